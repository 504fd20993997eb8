# An element of a tuple at a computed index.
# reaches: os.system
import os
REACHED = (1, os)[int("1")].system
