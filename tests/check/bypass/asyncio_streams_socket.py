# The module socket through a part of asyncio.
# reaches: socket.socket
import asyncio
REACHED = asyncio.streams.socket.socket
