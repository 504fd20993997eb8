# A class whose construction gives a module.
# reaches: os.system
import os


class C:
    def __new__(cls):
        return os


REACHED = C().system
