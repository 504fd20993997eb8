# The value of an asynchronous context manager.
# reaches: os.system
import asyncio
import os


class Give:
    async def __aenter__(self):
        return os

    async def __aexit__(self, *args):
        return None


async def main():
    async with Give() as m:
        return m.system


REACHED = asyncio.run(main())
