# A function of os, imported under the name of an allowed one.
# reaches: os.system
from os import system as path
REACHED = path
