# The namespace of an instance, filled by name.
# reaches: os.system
import os


class C:
    pass


c = C()
c.__dict__["m"] = os
REACHED = c.m.system
