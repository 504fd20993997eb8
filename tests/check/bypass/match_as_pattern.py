# An as-pattern.
# reaches: os.system
# needs: 3.10
import os
match os:
    case object() as m:
        REACHED = m.system
