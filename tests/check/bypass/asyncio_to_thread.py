# A forbidden builtin, run by a thread of asyncio.
# reaches: the value of evaluated text
# proof: REACHED == 42
import asyncio
REACHED = asyncio.run(asyncio.to_thread(eval, "6 * 7"))
