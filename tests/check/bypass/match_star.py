# A starred pattern.
# reaches: os.system
# needs: 3.10
import os
match (1, 2, os):
    case (1, *rest):
        REACHED = rest[-1].system
