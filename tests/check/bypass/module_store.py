# A module that is given a new attribute.
# reaches: os.system
import math
import os
math.m = os
REACHED = math.m.system
