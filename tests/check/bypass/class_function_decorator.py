# A decorator that replaces a function by a module.
# reaches: os.system
import os


def replace(f):
    return os


@replace
def f():
    pass


REACHED = f.system
