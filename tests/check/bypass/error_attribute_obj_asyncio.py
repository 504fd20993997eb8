# The same with asyncio, whose parts hold os.
# reaches: os
# needs: 3.10
import asyncio
try:
    asyncio.no_such_thing
except AttributeError as e:
    REACHED = e.obj.base_events.os
