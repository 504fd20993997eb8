# The operator or.
# reaches: os.system
import os
REACHED = (None or os).system
