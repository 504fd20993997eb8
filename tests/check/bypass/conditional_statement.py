# The branches of an if statement that bind one name.
# reaches: os.system
import os
import math
if 1:
    m = os
else:
    m = math
REACHED = m.system
