# The environment, handed to a comparison of one's own.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
import os


class Change:
    def __eq__(self, other):
        other["GLOVEBOX_PROBE"] = "1"
        return True

    __hash__ = None


Change() == os.environ
REACHED = os.environ
