# A global whose name a class mangles: the name in the class is not the name that is read.
# reaches: os.system
import os as _C__m


class C:
    def get(self):
        return __m.system


REACHED = C().get()
