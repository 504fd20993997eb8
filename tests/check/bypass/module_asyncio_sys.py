# The module sys through asyncio.
# reaches: sys.modules
import asyncio
REACHED = asyncio.sys.modules
