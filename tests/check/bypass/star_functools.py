# A star import that brings a function which copies attributes by name.
# reaches: builtins
from functools import *
found = []


class Catch:
    def __setattr__(self, name, value):
        found.append(value)


update_wrapper(Catch(), print, ("__self__",), ())
REACHED = found[0]
