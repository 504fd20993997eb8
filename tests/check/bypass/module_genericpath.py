# The module os through a module of os.path.
# reaches: os.system
from os import path
REACHED = path.genericpath.os.system
