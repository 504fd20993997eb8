# An iterator chained out of several containers.
# reaches: os.system
import itertools
import os
REACHED = next(itertools.chain([], (os,))).system
