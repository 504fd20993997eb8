# The module subprocess through a part of asyncio.
# reaches: subprocess.Popen
import asyncio
REACHED = asyncio.base_events.subprocess.Popen
