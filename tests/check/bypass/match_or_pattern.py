# An or-pattern whose branches bind one name.
# reaches: os.system
# needs: 3.10
import os
match (0, os):
    case (1, m) | (0, m):
        REACHED = m.system
