# wraps copies the frame of a generator under its own name.
# reaches: a frame
# proof: isinstance(REACHED, types.FrameType)
from functools import wraps


class Plain:
    pass


p = Plain()
wraps((x for x in ()), ("gi_frame",), ())(p)
REACHED = p.gi_frame
