# The environment, kept in a dictionary and changed there.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
import os
box = {}
box["e"] = os.environ
box["e"].update(GLOVEBOX_PROBE="1")
REACHED = box["e"]
