# An import in the body of a class.
# reaches: os.system
class C:
    import os


REACHED = C.os.system
