# The environment as a value in a dictionary.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
import os
box = {"e": os.environ}
for e in box.values():
    e["GLOVEBOX_PROBE"] = "1"
REACHED = e
