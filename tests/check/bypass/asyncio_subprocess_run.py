# A process that really runs.
# reaches: the exit status of a process
# proof: REACHED == 7
import asyncio


async def main():
    process = await asyncio.create_subprocess_shell("exit 7")
    return await process.wait()


REACHED = asyncio.run(main())
