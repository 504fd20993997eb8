# The environment under another name, changed.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
import os
variables = os.environ
variables["GLOVEBOX_PROBE"] = "1"
REACHED = variables
