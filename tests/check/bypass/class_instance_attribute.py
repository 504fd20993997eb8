# A module as an attribute of an instance.
# reaches: os.system
import os


class C:
    def __init__(self):
        self.m = os


REACHED = C().m.system
