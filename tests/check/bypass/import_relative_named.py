# A relative import that names a module, in a program that calls itself a part of asyncio.
# reaches: os
__package__ = "asyncio"
from .base_events import os as o
REACHED = o
