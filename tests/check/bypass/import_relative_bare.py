# A relative import of a submodule, in a program that calls itself a part of asyncio.
# reaches: asyncio.base_events.os
__package__ = "asyncio"
from . import base_events
REACHED = base_events.os
