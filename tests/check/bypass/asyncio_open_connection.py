# A connection, through asyncio.
# reaches: asyncio.open_connection
import asyncio
REACHED = asyncio.open_connection
