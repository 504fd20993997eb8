# A process, through a name imported from asyncio.
# reaches: asyncio.create_subprocess_exec
from asyncio import create_subprocess_exec as start
REACHED = start
