# An attribute of one's own that is deleted, so that the one of the base shines through.
# reaches: os.system
import os


class Base:
    m = os


class C(Base):
    m = None


del C.m
REACHED = C.m.system
