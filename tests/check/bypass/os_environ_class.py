# The class of the environment, and the globals of its methods.
# reaches: os.system
import os
REACHED = os.environ.__class__.__init__.__globals__["system"]
