# Lists added up.
# reaches: os.system
import os
REACHED = sum([[], [os]], [])[0].system
