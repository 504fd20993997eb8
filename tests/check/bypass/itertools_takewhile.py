# A module through an iterator that filters.
# reaches: os.system
import itertools
import os
REACHED = next(itertools.takewhile(bool, [os])).system
