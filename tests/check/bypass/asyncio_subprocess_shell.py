# A process by a shell, through asyncio.
# reaches: asyncio.create_subprocess_shell
import asyncio
REACHED = asyncio.create_subprocess_shell
