# The module os through a part of asyncio.
# reaches: os.system
import asyncio
REACHED = asyncio.events.os.system
