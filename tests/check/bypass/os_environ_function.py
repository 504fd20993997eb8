# A function of the environment's, and its globals.
# reaches: os.system
import os
REACHED = os.environ.encodekey.__globals__["system"]
