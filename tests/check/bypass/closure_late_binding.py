# A function that uses a name which becomes the module only later.
# reaches: os.system
def later():
    return m.system


m = 1
import os
m = os
REACHED = later()
