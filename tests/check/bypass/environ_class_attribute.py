# The environment, kept in a class and changed there.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
import os


class Box:
    variables = os.environ


Box.variables["GLOVEBOX_PROBE"] = "1"
REACHED = Box.variables
