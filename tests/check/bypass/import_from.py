# A function of os, imported by name.
# reaches: os.system
from os import system
REACHED = system
