# The method of the loop that connects.
# reaches: a method that connects
# proof: REACHED.__name__ == "create_connection"
import asyncio


async def main():
    return asyncio.get_running_loop().create_connection


REACHED = asyncio.run(main())
