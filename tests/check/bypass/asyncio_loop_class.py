# The class of the loop, which has the methods too.
# reaches: asyncio.SelectorEventLoop.subprocess_exec
import asyncio
REACHED = asyncio.SelectorEventLoop.subprocess_exec
