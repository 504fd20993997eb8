# The argument that filter gives to its function.
# reaches: os.system
import os
REACHED = next(filter(lambda m: True, (os,))).system
