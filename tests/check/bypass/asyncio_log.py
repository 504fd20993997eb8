# The logging module through a part of asyncio.
# reaches: logging
import asyncio
REACHED = asyncio.log.logging
