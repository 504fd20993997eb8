# A sequence pattern.
# reaches: os.system
# needs: 3.10
import os
match [1, os]:
    case [_, m]:
        REACHED = m.system
