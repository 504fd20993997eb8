# The path module of os, replaced.
# reaches: a changed module
# proof: os.path == 1
import os
os.path = 1
REACHED = os
