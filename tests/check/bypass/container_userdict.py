# The data of a UserDict.
# reaches: os.system
import os
from collections import UserDict
REACHED = UserDict(m=os)["m"].system
