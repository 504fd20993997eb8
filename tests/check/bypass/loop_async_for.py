# The loop variable of an async for statement.
# reaches: os.system
import asyncio
import os


async def modules():
    yield os


async def main():
    async for m in modules():
        return m.system


REACHED = asyncio.run(main())
