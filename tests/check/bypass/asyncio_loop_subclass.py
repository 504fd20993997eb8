# A loop of one's own, whose inherited method starts processes.
# reaches: a method that starts processes
# proof: REACHED.__name__ == "subprocess_exec"
import asyncio


class Mine(asyncio.SelectorEventLoop):
    def start(self):
        return self.subprocess_exec


loop = Mine()
REACHED = loop.start()
loop.close()
