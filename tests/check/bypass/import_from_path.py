# The module os, imported from os.path.
# reaches: os
from os.path import os as o
REACHED = o
