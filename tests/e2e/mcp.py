"""A client that speaks MCP in raw lines, in either era, and says exactly what it wants to say."""
import json
import os
import select
import subprocess
import time

import box

LEGACY, MODERN = "2025-11-25", "2026-07-28"
META = "io.modelcontextprotocol/"


def meta(capabilities=None, version=MODERN, **more):
    return {META + "protocolVersion": version, META + "clientCapabilities": capabilities or {},
            META + "clientInfo": {"name": "test", "version": "1"}, **more}


class Client:
    """`glovebox mcp`, or another server, and the lines that go in and out of it."""

    def __init__(self, *options, command=None, env=None):
        argv = command or [box.GLOVEBOX, "mcp", *map(str, options)]
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
            env={**box.ENV, **(env or {})}, start_new_session=True)
        self.read, self.seen, self.last = b"", [], 0

    def write(self, data):
        view = memoryview(data)
        while view:
            view = view[self.process.stdin.write(view):]

    def send(self, message):
        self.write(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")

    def line(self, seconds=30):
        """The next line, as bytes; None if none comes."""
        end = time.monotonic() + seconds
        while b"\n" not in self.read:
            if not select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))[0]:
                return None
            piece = os.read(self.process.stdout.fileno(), 1 << 20)
            if not piece:
                return None
            self.read += piece
        line, _, self.read = self.read.partition(b"\n")
        return line

    def message(self, seconds=30):
        line = self.line(seconds)
        assert line is not None, "no message came"
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def start(self, method, params=None, id=None):
        self.last += 1
        id = self.last if id is None else id
        message = {"jsonrpc": "2.0", "id": id, "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)
        return id

    def answer(self, id, seconds=30):
        """The response to this request; what came before it is in `seen`."""
        while True:
            message = self.message(seconds)
            if "method" not in message and message.get("id") == id:
                return message
            self.seen.append(message)

    def ask(self, method, params=None, **options):
        return self.answer(self.start(method, params, **options))

    def notify(self, method, params=None):
        self.send({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})})

    def initialize(self, capabilities=None, version=LEGACY):
        done = self.ask("initialize", {"protocolVersion": version, "capabilities": capabilities or {},
                                       "clientInfo": {"name": "test", "version": "1"}})
        self.notify("notifications/initialized")
        return done["result"]

    def is_quiet(self, seconds=0.3):
        """Nothing more comes."""
        return self.line(seconds) is None

    def end(self):
        """Close its input. Returns the exit status, what else it wrote, and how long that took."""
        started = time.monotonic()
        self.process.stdin.close()
        rest = self.read + self.process.stdout.read()
        status = self.process.wait(20)
        return status, rest, time.monotonic() - started

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()


class Legacy(Client):
    """In the era of handshakes."""
    era = "legacy"

    def __init__(self, *options, capabilities=None, version=LEGACY, **more):
        super().__init__(*options, **more)
        self.hello = self.initialize(capabilities, version)

    def request(self, method, params=None, meta=None, **options):
        return self.ask(method, {**(params or {}), **({"_meta": meta} if meta else {})}, **options)

    def begin(self, method, params=None, meta=None, **options):
        return self.start(method, {**(params or {}), **({"_meta": meta} if meta else {})}, **options)

    def call(self, name, meta=None, **arguments):
        done = self.request("tools/call", {"name": name, "arguments": arguments}, meta)
        assert "result" in done, done
        return done["result"]


class Modern(Legacy):
    """Without one: each request says who asks."""
    era = "modern"

    def __init__(self, *options, capabilities=None, **more):
        Client.__init__(self, *options, **more)
        self.capabilities = capabilities

    def request(self, method, params=None, meta=None, **options):
        return self.answer(self.begin(method, params, meta, **options))

    def begin(self, method, params=None, meta=None, **options):
        whole = {**globals()["meta"](self.capabilities), **(meta or {})}
        return self.start(method, {**(params or {}), "_meta": whole}, **options)
