# Another.
# reaches: inspect
import asyncio.coroutines
REACHED = asyncio.coroutines.inspect
