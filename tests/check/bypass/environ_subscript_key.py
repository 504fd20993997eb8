# The environment as a key of a container of one's own.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
import os


class Change:
    def __getitem__(self, other):
        other["GLOVEBOX_PROBE"] = "1"


Change()[os.environ]
REACHED = os.environ
