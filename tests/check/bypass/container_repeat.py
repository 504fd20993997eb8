# An endless iterator that repeats the module.
# reaches: os.system
import itertools
import os
REACHED = next(itertools.repeat(os)).system
