# A class that answers every item with a module.
# reaches: os.system
import os


class C:
    def __getitem__(self, key):
        return os


REACHED = C()["x"].system
