# The frame of something that is only a parameter.
# reaches: a frame
# proof: isinstance(REACHED, types.FrameType)
def frame_of(thing):
    return thing.gi_frame


REACHED = frame_of(i for i in range(3))
