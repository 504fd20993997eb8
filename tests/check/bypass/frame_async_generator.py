# The frame of an asynchronous generator.
# reaches: a frame
# proof: isinstance(REACHED, types.FrameType)
async def gen():
    yield 1


REACHED = gen().ag_frame
