# The environment inside a slice.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
import os
e = slice(os.environ).stop
e["GLOVEBOX_PROBE"] = "1"
REACHED = e
