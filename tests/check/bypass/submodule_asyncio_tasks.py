# Another.
# reaches: inspect
from asyncio import tasks
REACHED = tasks.inspect
