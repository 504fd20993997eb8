# The environment, changed by the target of a loop.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
import os
for os.environ["GLOVEBOX_PROBE"] in "1":
    pass
REACHED = os.environ
