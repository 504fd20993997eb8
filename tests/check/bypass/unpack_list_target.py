# By unpacking into a list of targets.
# reaches: os.execv
import os
[a, _] = [os, 1]
REACHED = a.execv
