# By a starred target that collects the rest.
# reaches: os.popen
import os
first, *rest = 1, 2, os
REACHED = rest[1].popen
