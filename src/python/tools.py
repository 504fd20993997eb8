"""What programs find of the host's tools, where Python says it more shortly than C (tools.c)."""


class ToolError(RuntimeError):
    """A tool of the host's failed, or could not be called: `type` and `message` say why."""

    __module__ = "__main__"  # where the program finds it

    def __init__(self, type, message=""):
        super().__init__(type, message)
        self.type = type
        self.message = message

    def __str__(self):
        return f"{self.type}: {self.message}" if self.message else self.type


class UnknownToolError(ToolError, ValueError):
    """There is no tool of that name."""

    __module__ = "__main__"


async def call(begin, cancel, name, arguments):
    """One call from inside an event loop. It is sent when it is awaited, as of any coroutine."""
    from asyncio import get_running_loop

    loop = get_running_loop()
    future = loop.create_future()
    number = begin(future, loop, name, arguments)
    try:
        return await future
    finally:
        if not future.done() or future.cancelled():
            cancel(number)


def settle(future, value, error):
    """Its answer is here; it may have been given up meanwhile."""
    if future.done():
        return
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(error)
