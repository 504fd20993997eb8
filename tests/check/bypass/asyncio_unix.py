# A connection to a local socket, through asyncio.
# reaches: asyncio.open_unix_connection
import asyncio
REACHED = asyncio.open_unix_connection
