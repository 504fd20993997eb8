# The value of a dictionary comprehension.
# reaches: os.system
import os
REACHED = {k: v for k, v in [("m", os)]}["m"].system
