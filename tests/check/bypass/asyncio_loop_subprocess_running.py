# The same of the running loop, asked of a task.
# reaches: a method that starts processes
# proof: REACHED.__name__ == "subprocess_exec"
import asyncio


async def main():
    return asyncio.current_task().get_loop().subprocess_exec


REACHED = asyncio.run(main())
