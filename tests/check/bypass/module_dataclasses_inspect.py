# The frames, through a module of dataclasses.
# reaches: a frame
# proof: isinstance(REACHED, types.FrameType)
import dataclasses
REACHED = dataclasses.inspect.currentframe()
