# The namespace of a module by vars.
# reaches: os.system
import os
REACHED = vars(os)["system"]
