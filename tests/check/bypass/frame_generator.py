# The frame of a generator.
# reaches: a frame
# proof: isinstance(REACHED, types.FrameType)
REACHED = (x for x in ()).gi_frame
