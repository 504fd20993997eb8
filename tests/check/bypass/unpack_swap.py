# By swapping two variables.
# reaches: os.system
import os
a, b = os, 1
a, b = b, a
REACHED = b.system
