# The exceptions of a group, and the frame of one.
# reaches: a frame
# proof: isinstance(REACHED, types.FrameType)
# needs: 3.11
def fail():
    raise ValueError


try:
    try:
        fail()
    except ValueError as e:
        raise ExceptionGroup("g", [e])
except* ValueError as group:
    REACHED = group.exceptions[0].__traceback__.tb_frame
