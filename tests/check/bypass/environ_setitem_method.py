# The environment, changed by the method behind a subscript.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
import os
os.environ.__setitem__("GLOVEBOX_PROBE", "1")
REACHED = os.environ
