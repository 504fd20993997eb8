# A private method of the loop that starts a process, by a name that a class of one's own has too.
# reaches: a method that starts processes
# proof: REACHED.__name__ == "_make_subprocess_transport"
import asyncio


class Mine:
    def _make_subprocess_transport(self):
        pass


async def main():
    return asyncio.get_running_loop()._make_subprocess_transport


REACHED = asyncio.run(main())
