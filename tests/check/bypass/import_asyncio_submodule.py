# A submodule of asyncio that holds os.
# reaches: os
import asyncio.base_events
REACHED = asyncio.base_events.os
