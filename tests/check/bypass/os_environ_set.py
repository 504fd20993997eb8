# The environment, changed.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
import os
os.environ["GLOVEBOX_PROBE"] = "1"
REACHED = os.environ
