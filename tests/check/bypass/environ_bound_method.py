# A method of the environment's, kept.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
import os
change = os.environ.update
change(GLOVEBOX_PROBE="1")
REACHED = os.environ
