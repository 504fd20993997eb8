# Everything of os.path; a name that it does not mean to give is reached through the module.
# reaches: os
import os.path
from os.path import *
REACHED = os.path.os
