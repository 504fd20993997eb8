# An asynchronous comprehension.
# reaches: os.system
import asyncio
import os


async def each():
    yield os


async def main():
    return [m async for m in each()]


REACHED = asyncio.run(main())[0].system
