# The environment, kept in an attribute and changed there.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
import os


class Box:
    pass


box = Box()
box.variables = os.environ
box.variables["GLOVEBOX_PROBE"] = "1"
REACHED = box.variables
