# A callback that is handed a task, and asks it for its frames.
# reaches: a frame
# proof: isinstance(REACHED, types.FrameType)
import asyncio
found = []


async def work():
    await asyncio.sleep(0.01)


async def main():
    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    found.extend(task.get_stack(limit=1))
    await task


asyncio.run(main())
REACHED = found[0]
