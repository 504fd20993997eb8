# The environment behind a context manager of one's own.
# reaches: a changed environment
# proof: os.environ["GLOVEBOX_PROBE"] == "1"
import os


class Give:
    def __enter__(self):
        return os.environ

    def __exit__(self, *exc):
        pass


with Give() as e:
    e["GLOVEBOX_PROBE"] = "1"
REACHED = e
