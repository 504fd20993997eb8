# A module through copies of an iterator.
# reaches: os.system
import itertools
import os
a, b = itertools.tee([os])
REACHED = [*b][0].system
