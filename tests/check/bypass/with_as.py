# The value that a context manager of one's own gives.
# reaches: os.system
import os


class Give:
    def __enter__(self):
        return os

    def __exit__(self, *args):
        return None


with Give() as m:
    REACHED = m.system
