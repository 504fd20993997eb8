# An object whose iteration gives a module.
# reaches: os.system
import os


class C:
    def __iter__(self):
        yield os


[m] = C()
REACHED = m.system
