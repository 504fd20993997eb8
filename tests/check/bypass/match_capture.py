# The capture pattern of a match statement.
# reaches: os.system
# needs: 3.10
import os
match os:
    case m:
        REACHED = m.system
