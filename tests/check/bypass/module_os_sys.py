# The module sys through os.
# reaches: sys
import os
REACHED = os.sys
