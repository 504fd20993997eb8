# A module of a part of asyncio that is not among the dangerous ones.
# reaches: signal
# needs: 3.11
import asyncio
REACHED = asyncio.runners.signal
