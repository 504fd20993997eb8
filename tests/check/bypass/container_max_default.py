# The default of max.
# reaches: os.system
import os
REACHED = max([], default=os).system
