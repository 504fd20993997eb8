# The module sys through uuid.
# reaches: sys.modules
from uuid import sys as s
REACHED = s.modules
