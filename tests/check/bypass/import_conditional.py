# An import in a branch, with a harmless one in the other.
# reaches: sys
if True:
    import sys as m
else:
    import math as m
REACHED = m
