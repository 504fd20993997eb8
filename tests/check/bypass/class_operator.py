# An object whose addition gives a module.
# reaches: os.system
import os


class C:
    def __add__(self, other):
        return other

    __radd__ = __add__


REACHED = (C() + os).system
