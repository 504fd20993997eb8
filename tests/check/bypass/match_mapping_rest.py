# The rest of a mapping pattern.
# reaches: os.system
# needs: 3.10
import os
match {"a": 1, "m": os}:
    case {"a": 1, **rest}:
        REACHED = rest["m"].system
