# The environment, handed to a format of one's own.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
import os


class Change(str):
    def __mod__(self, other):
        other["GLOVEBOX_PROBE"] = "1"
        return ""


Change("%s") % os.environ
REACHED = os.environ
