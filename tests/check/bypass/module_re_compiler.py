# A private part of re.
# reaches: re._compiler
# needs: 3.11
import re
REACHED = re._compiler
