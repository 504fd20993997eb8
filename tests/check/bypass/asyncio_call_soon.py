# A forbidden builtin, called by the loop.
# reaches: the value of evaluated text
# proof: REACHED == [42]
import asyncio
REACHED = []


async def main():
    asyncio.get_running_loop().call_soon(exec, "REACHED.append(42)", {"REACHED": REACHED})
    await asyncio.sleep(0.01)


asyncio.run(main())
