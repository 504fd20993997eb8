# The value of an awaited coroutine.
# reaches: os.system
import asyncio
import os


async def get():
    return os


async def main():
    return (await get()).system


REACHED = asyncio.run(main())
