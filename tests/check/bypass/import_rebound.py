# A name that is first one module and then another.
# reaches: os.system
import math as m
import os
m = os
REACHED = m.system
