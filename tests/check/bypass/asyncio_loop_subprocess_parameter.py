# The same of a loop that is only a parameter.
# reaches: a method that starts processes
# proof: REACHED.__name__ == "subprocess_exec"
import asyncio


def start(loop):
    return loop.subprocess_exec


async def main():
    return start(asyncio.get_running_loop())


REACHED = asyncio.run(main())
