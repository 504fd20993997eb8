# max() of two mappings gives one of them.
# reaches: os.environ, changed
# proof: os.environ["A"] == REACHED
import os
x = max(os.environ, {}, key=len)
x["A"] = REACHED = "b"
