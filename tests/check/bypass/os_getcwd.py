# A function of os that is not in the list.
# reaches: os.getcwd
import os
REACHED = os.getcwd
