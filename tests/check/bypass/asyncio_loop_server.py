# The method of the loop that listens.
# reaches: a method that listens
# proof: REACHED.__name__ == "create_server"
import asyncio


async def main():
    loop = asyncio.get_event_loop()
    return loop.create_server


REACHED = asyncio.run(main())
