# A decorator that replaces a class by a module.
# reaches: os.system
import os


def replace(cls):
    return os


@replace
class C:
    pass


REACHED = C.system
