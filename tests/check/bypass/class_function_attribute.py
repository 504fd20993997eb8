# A module as an attribute of a function.
# reaches: os.system
import os


def f():
    pass


f.m = os
REACHED = f.m.system
