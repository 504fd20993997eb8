# The guard of a case.
# reaches: os.system
# needs: 3.10
import os
match 1:
    case _ if (m := os):
        REACHED = m.system
