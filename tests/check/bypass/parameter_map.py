# The argument that map gives to its function.
# reaches: os.system
import os
REACHED = list(map(lambda m: m.system, [os]))[0]
