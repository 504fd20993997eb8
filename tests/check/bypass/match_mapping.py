# A mapping pattern.
# reaches: os.system
# needs: 3.10
import os
match {"m": os}:
    case {"m": m}:
        REACHED = m.system
