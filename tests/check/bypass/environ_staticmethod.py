# The environment behind a static method.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
import os


class Box:
    e = staticmethod(os.environ)


Box.e["GLOVEBOX_PROBE"] = "1"
REACHED = Box.e
