# A star import that brings functions which look at the file system.
# reaches: os.path.exists
from os.path import *
REACHED = exists
