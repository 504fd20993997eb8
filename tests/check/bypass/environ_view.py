# The environment, out of a view on it.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
import os


class Mine:
    _mapping = None


os.environ.items()._mapping["GLOVEBOX_PROBE"] = "1"
REACHED = os.environ
