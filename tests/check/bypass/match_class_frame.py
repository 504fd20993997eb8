# A class pattern walks from a generator to its frame.
# reaches: a frame
# needs: 3.10
# proof: isinstance(REACHED, types.FrameType)
match (x for x in ()):
    case object(gi_frame=frame):
        REACHED = frame
