# The interactive console of asyncio, which runs text.
# reaches: asyncio.__main__
import asyncio.__main__ as console
REACHED = console
