# The subprocess part of asyncio, imported.
# reaches: subprocess
import asyncio.subprocess as s
REACHED = s.subprocess
