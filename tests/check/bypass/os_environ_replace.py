# The environment of os, replaced.
# reaches: a changed module
# proof: os.environ == {}
import os
os.environ = {}
REACHED = os
