# A descriptor that gives a module.
# reaches: os.system
import os


class Give:
    def __get__(self, obj, owner=None):
        return os


class C:
    m = Give()


REACHED = C().m.system
