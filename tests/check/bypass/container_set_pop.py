# The element of a set by pop.
# reaches: os.system
import os
REACHED = {os}.pop().system
