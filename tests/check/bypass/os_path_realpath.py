# A function of os.path that follows links.
# reaches: os.path.realpath
from os.path import realpath
REACHED = realpath
