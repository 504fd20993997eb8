# A part of re that holds other modules.
# reaches: sre_compile
# needs: 3.9-3.10
import re
REACHED = re.sre_compile
