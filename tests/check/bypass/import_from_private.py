# A private name, imported from an allowed module.
# reaches: os
from random import _os as o
REACHED = o
