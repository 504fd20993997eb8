# The loop by its policy.
# reaches: a method that starts processes
# proof: REACHED.__name__ == "subprocess_shell"
import asyncio
policy = asyncio.get_event_loop_policy()
loop = policy.new_event_loop()
REACHED = loop.subprocess_shell
loop.close()
