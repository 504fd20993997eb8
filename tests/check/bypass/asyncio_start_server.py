# A server, through asyncio.
# reaches: asyncio.start_server
from asyncio import start_server
REACHED = start_server
