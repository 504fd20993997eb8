# The traceback that the end of a with block is handed.
# reaches: a frame
# proof: isinstance(REACHED, types.FrameType)
class Catch:
    def __enter__(self):
        return self

    def __exit__(self, kind, value, tb):
        self.frame = tb.tb_frame
        return True


with Catch() as c:
    raise ValueError
REACHED = c.frame
