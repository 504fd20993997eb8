# The environment as the left side of an operator.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
import os


class Change:
    def __ror__(self, other):
        other["GLOVEBOX_PROBE"] = "1"
        return other

    __radd__ = __ror__


REACHED = os.environ + Change()
