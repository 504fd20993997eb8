# The environment, handed to a container of one's own.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
import os


class Change:
    def __contains__(self, other):
        other["GLOVEBOX_PROBE"] = "1"
        return True


os.environ in Change()
REACHED = os.environ
