# A class that answers every attribute with a module.
# reaches: os.system
import os


class C:
    def __getattr__(self, name):
        return os


REACHED = C().anything.system
