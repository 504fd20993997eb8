# min() of a mapping and itself.
# reaches: os.environ, changed
# proof: os.environ["A"] == REACHED
import os
x = min(os.environ, os.environ, key=len)
x["A"] = REACHED = "b"
