# A descriptor that is told its owner, and puts a module there.
# reaches: os.system
import os


class Put:
    def __set_name__(self, owner, name):
        owner.m = os


class C:
    x = Put()


REACHED = C.m.system
