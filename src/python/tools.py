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


class Tools:
    """The tools of one server, each a function: server.tool(key=value)."""

    __module__ = "__main__"

    def __init__(self, name, tools, make):
        self.__dict__["_glovebox"] = name, tools, make

    def __getattr__(self, name):
        server, tools, make = self.__dict__["_glovebox"]
        if name not in tools:
            known = ", ".join(list(tools)[:50]) + (", ..." if len(tools) > 50 else "")
            raise AttributeError(f"{server} has no tool {name!r}; there are: {known}")
        function = self.__dict__[name] = make(*tools[name])
        return function

    def __dir__(self):
        return list(self.__dict__["_glovebox"][1])

    def __repr__(self):
        return f"<tools of {self.__dict__['_glovebox'][0]}: {', '.join(dir(self))}>"


class Handle:
    """A picture, a sound or a resource that a tool gave; the host keeps it for some minutes. read() gives
    its bytes, text() the same as text; both are awaited inside an event loop, as tools are."""

    __module__ = "__main__"

    def __init__(self, about, call):
        self.kind = about.get("kind")
        self.mime = about.get("mime")
        self.name = about.get("name")
        self.uri = about.get("uri")
        self.size = about.get("size")
        self._handle = about["handle"]
        self._call = call

    def read(self):
        return then(self._call("read_handle", handle=self._handle), content)

    def text(self):
        return then(self.read(), decoded)

    def _repr_mimebundle_(self, include=None, exclude=None):
        data = self.read() if self.mime else None
        if isinstance(data, bytes):
            return {self.mime: data.decode() if self.mime.startswith("text/") else data}
        if data is not None:
            data.close()  # inside an event loop nothing can wait for it here
        return {"text/plain": repr(self)}

    def __repr__(self):
        facts = [self.kind, self.mime, self.name or self.uri, self.size and f"{self.size} bytes"]
        return f"<{', '.join(str(fact) for fact in facts if fact)}>"


def content(answer):
    """The bytes of what read_handle() answers."""
    from binascii import a2b_base64

    return answer["text"].encode() if "text" in answer else a2b_base64(answer["base64"])


def decoded(data):
    return data.decode("utf-8", "replace")


def then(value, what):
    """what(value), now or when it has been awaited."""

    async def later():
        return what(await value)

    return later() if hasattr(value, "__await__") else what(value)


def blocks(value, call):
    """A result with handles in it: one block, or a list of them."""
    if isinstance(value, list):
        return [blocks(item, call) if isinstance(item, dict) else item for item in value]
    return Handle(value, call) if isinstance(value, dict) and "handle" in value else value
