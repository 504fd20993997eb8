# A module in a slot.
# reaches: os.system
import os


class C:
    __slots__ = ("m",)


c = C()
c.m = os
REACHED = c.m.system
