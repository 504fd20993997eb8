# Another, by its name.
# reaches: contextvars
from asyncio.threads import contextvars as c
REACHED = c
