# A builtin that reads attributes by name.
# reaches: os.system
import os
REACHED = getattr(os, "sys" + "tem")
