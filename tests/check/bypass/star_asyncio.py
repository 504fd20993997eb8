# A star import that brings a function which starts processes.
# reaches: asyncio.create_subprocess_shell
from asyncio import *
REACHED = create_subprocess_shell
