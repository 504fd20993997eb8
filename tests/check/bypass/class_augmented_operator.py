# An object that an augmented assignment turns into a module.
# reaches: os.system
import os


class C:
    def __iadd__(self, other):
        return other


c = C()
c += os
REACHED = c.system
