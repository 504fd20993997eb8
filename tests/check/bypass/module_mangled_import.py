# An import whose name a class mangles.
# reaches: os.system
class C:
    import os as __m


REACHED = C._C__m.system
