# The operator and.
# reaches: os.system
import os
REACHED = (True and os).system
