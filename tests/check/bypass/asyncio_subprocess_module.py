# The subprocess part of asyncio.
# reaches: asyncio.subprocess
import asyncio
REACHED = asyncio.subprocess
