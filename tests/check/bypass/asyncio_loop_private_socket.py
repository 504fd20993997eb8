# The socket inside a loop.
# reaches: a socket
# proof: type(REACHED).__name__ == "socket"
import asyncio


async def main():
    return asyncio.get_running_loop()._ssock


REACHED = asyncio.run(main())
