# The policy of event loops gives what watches children.
# reaches: a watcher of children
# proof: "ChildWatcher" in type(REACHED).__name__
# needs: 3.9-3.11
import asyncio
REACHED = asyncio.get_event_loop_policy().get_child_watcher()
