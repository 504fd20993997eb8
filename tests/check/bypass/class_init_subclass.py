# A base class that puts a module into those below it.
# reaches: os.system
import os


class Base:
    def __init_subclass__(cls, **kw):
        cls.m = kw["m"]


class C(Base, m=os):
    pass


REACHED = C.m.system
