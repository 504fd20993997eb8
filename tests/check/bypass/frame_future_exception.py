# The exception of a future, and its frame.
# reaches: a frame
# proof: isinstance(REACHED, types.FrameType)
import asyncio


async def fail():
    raise ValueError


async def main():
    done = await asyncio.gather(fail(), return_exceptions=True)
    return done[0].__traceback__.tb_frame


REACHED = asyncio.run(main())
