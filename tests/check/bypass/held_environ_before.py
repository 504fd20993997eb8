# os.environ in a name that is something else later.
# reaches: os.environ, changed
# proof: os.environ["A"] == REACHED
import math
import os
w = os.environ
w["A"] = REACHED = "b"
w = math.sin
