# Everything of os, by a star import.
# reaches: os.system
from os import *
REACHED = system
