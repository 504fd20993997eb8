# A positional pattern of a named tuple that takes every object for its own.
# reaches: a frame
# proof: isinstance(REACHED, types.FrameType)
# needs: 3.10
from collections import namedtuple


class Meta(type):
    def __instancecheck__(cls, thing):
        return True


class Reader(namedtuple("Base", ["gi_" + "frame"]), metaclass=Meta):
    pass


match (x for x in ()):
    case Reader(frame):
        REACHED = frame
