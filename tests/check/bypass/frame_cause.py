# The cause of an exception, and its frame.
# reaches: a frame
# proof: isinstance(REACHED, types.FrameType)
try:
    try:
        1 / 0
    except ZeroDivisionError as first:
        raise ValueError from first
except ValueError as e:
    REACHED = e.__cause__.__traceback__.tb_frame
