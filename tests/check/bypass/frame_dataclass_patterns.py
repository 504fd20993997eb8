# A positional pattern of a dataclass with a field that is named like a generator's attribute.
# reaches: a frame
# proof: isinstance(REACHED, types.FrameType)
# needs: 3.10
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass
class Reader(Iterable):
    gi_frame: object


Reader.register(type(x for x in ()))
match (x for x in ()):
    case Reader(frame):
        REACHED = frame
