# The method of the loop that watches any descriptor.
# reaches: a method that watches descriptors
# proof: REACHED.__name__ == "connect_read_pipe"
import asyncio


async def main():
    return asyncio.get_running_loop().connect_read_pipe


REACHED = asyncio.run(main())
