# The module os through os.path.
# reaches: os.system
import os
REACHED = os.path.os.system
