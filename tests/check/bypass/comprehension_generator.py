# The value of a generator expression, taken with next.
# reaches: os.system
import os
REACHED = next(m for m in (os,)).system
