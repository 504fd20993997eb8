# The frames of a task, by a method without underscores.
# reaches: a frame
# proof: isinstance(REACHED, types.FrameType)
import asyncio


async def main():
    return asyncio.current_task().get_stack()[0]


REACHED = asyncio.run(main())
