# The coroutine of a task, and its frame.
# reaches: a frame
# proof: isinstance(REACHED, types.FrameType)
import asyncio


async def main():
    coroutine = asyncio.current_task().get_coro()
    return coroutine.cr_frame


REACHED = asyncio.run(main())
