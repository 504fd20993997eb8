# A template string keeps a module.
# reaches: os.system
# needs: 3.14
import os
REACHED = t"{os}".values[0].system
