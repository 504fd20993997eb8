# The environment by an assignment expression.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
import os
(e := os.environ)["GLOVEBOX_PROBE"] = "1"
REACHED = e
