# The environment as the argument of an exception.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
import os
e = ValueError(os.environ).args[0]
e["GLOVEBOX_PROBE"] = "1"
REACHED = e
