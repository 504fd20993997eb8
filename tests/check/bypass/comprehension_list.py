# The variable of a list comprehension.
# reaches: os.system
import os
REACHED = [m.system for m in [os]][0]
