# The environment below another dictionary.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
import os
from collections import ChainMap
ChainMap(os.environ)["GLOVEBOX_PROBE"] = "1"
REACHED = os.environ
