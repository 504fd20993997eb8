# The exception before an exception, and its frame.
# reaches: a frame
# proof: isinstance(REACHED, types.FrameType)
try:
    try:
        1 / 0
    finally:
        raise KeyError
except KeyError as e:
    REACHED = e.__context__.__traceback__.tb_frame
