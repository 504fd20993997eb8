# The dictionary inside the environment, by a name that a class of one's own has too.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
import os


class Mine:
    _data = None


os.environ._data[b"GLOVEBOX_PROBE"] = b"1"
REACHED = os.environ
