# The method of the loop that starts a process.
# reaches: a method that starts processes
# proof: REACHED.__name__ == "subprocess_shell"
import asyncio
loop = asyncio.new_event_loop()
REACHED = loop.subprocess_shell
loop.close()
