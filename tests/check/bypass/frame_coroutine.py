# The frame of a coroutine.
# reaches: a frame
# proof: isinstance(REACHED, types.FrameType)
async def co():
    pass


c = co()
REACHED = c.cr_frame
c.close()
