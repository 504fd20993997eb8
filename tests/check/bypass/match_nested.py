# Patterns inside patterns.
# reaches: os.system
# needs: 3.10
import os
match {"k": [(os, 1)]}:
    case {"k": [(m, _), *_]}:
        REACHED = m.system
