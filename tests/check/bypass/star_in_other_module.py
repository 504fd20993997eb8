# A star import that brings the name under which a module is known.
# reaches: os
import os.path
from posixpath import *
REACHED = os
