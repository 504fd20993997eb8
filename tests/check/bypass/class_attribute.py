# A module as an attribute of a class.
# reaches: os.system
import os


class C:
    m = os


REACHED = C.m.system
