"""Servers of MCP, over stdio and over HTTP, and clients that keep so many calls of one tool under way."""
import json
import os
import re
import select
import selectors
import socket
import subprocess
import time
from pathlib import Path

CLIENTS = Path(__file__).resolve().parent.parent / "build/mcp-clients/node_modules"
NODE = CLIENTS / "node/bin/node"
INSPECTOR = CLIENTS / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
EVERYTHING = CLIENTS / "@modelcontextprotocol/server-everything/dist/index.js"

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
HEAD = re.compile(rb"HTTP/1\.1 200 .*?\r\n\r\n", re.S)
LENGTH = re.compile(rb"\r\nContent-Length: (\d+)\r\n", re.I)


PATIENCE_S = 60


class Failed(Exception):
    pass


class Tool:
    """What is called, and what is in an answer that is right."""

    def __init__(self, name, arguments, right):
        self.params, self.right = {"name": name, "arguments": arguments}, right


EXECUTE = Tool("execute_code", {"code": "1 + 1"}, b'"value":2')
ECHO = Tool("echo", {"message": "hi"}, b"Echo: hi")


def message(method, params, id=None):
    whole = {"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})}
    return json.dumps({**whole, "id": id} if id else whole).encode()


def no_everything():
    """Why server-everything cannot be measured beside ours, or None."""
    return None if EVERYTHING.exists() and NODE.exists() else "run scripts/deps-mcp"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def rate(caller, where, ms, in_flight, tool, request, **streams):
    """Calls a second that bench/calls.c can make."""
    command = [caller, where, str(int(ms)), str(in_flight), tool.right, request]
    done = subprocess.run(command, stderr=subprocess.PIPE, timeout=PATIENCE_S + ms / 1000, **streams)
    if done.returncode != 0:
        raise Failed(done.stderr.decode(errors="replace"))
    calls, us = done.stderr.split()
    return int(calls) * 1e6 / int(us)


class Server:
    """A process that serves."""

    def __init__(self, argv, env, **streams):
        self.process = subprocess.Popen(argv, env=env, bufsize=0, **streams)

    def __exit__(self, *_):
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream:
                stream.close()
        self.process.terminate()
        self.process.wait(20)

    def rss_kb(self):
        with open(f"/proc/{self.process.pid}/statm") as f:
            return int(f.read().split()[1]) * 4


class Stdio(Server):
    def __init__(self, argv, env, tool):
        super().__init__(argv, env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.tool, self.last = tool, 0
        self.rest, self.lines = b"", []  # the last line first

    def __enter__(self):
        self.send("initialize", HELLO)
        self.hear(b'"serverInfo"')
        self.process.stdin.write(message("notifications/initialized", None) + b"\n")
        self.flow(100, 1)
        return self

    def send(self, method, params):
        self.last += 1
        self.process.stdin.write(message(method, params, self.last) + b"\n")

    def line(self):
        while not self.lines:
            out = self.process.stdout
            piece = os.read(out.fileno(), 1 << 20) if select.select([out], [], [], PATIENCE_S)[0] else b""
            if not piece:
                raise Failed("the server ended, or says nothing")
            *lines, self.rest = (self.rest + piece).split(b"\n")
            self.lines = lines[::-1]
        return self.lines.pop()

    def hear(self, right):
        line = self.line()
        while b'"method":' in line:  # not an answer
            line = self.line()
        if right not in line:
            raise Failed(f"the server answered: {line[:200]!r}")

    def rate(self, caller, ms, in_flight):
        self.last += 1
        return rate(caller, "stdio", ms, in_flight, self.tool, message("tools/call", self.tool.params, f"{self.last}-@"),
                    stdin=self.process.stdout, stdout=self.process.stdin)

    def flow(self, ms, in_flight):
        """Calls a second, by this program."""
        start, done, flying = time.monotonic(), 0, 0
        end = start + ms / 1000
        while flying or time.monotonic() < end:
            while flying < in_flight and time.monotonic() < end:
                self.send("tools/call", self.tool.params)
                flying += 1
            self.hear(self.tool.right)
            done, flying = done + 1, flying - 1
        return done / (time.monotonic() - start)


class Web(Server):
    """`argv` says on standard error that it listens. Without a session, calls are of 2026-07-28."""

    def __init__(self, argv, env, tool, port):
        super().__init__(argv, env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said, self.port, self.tool = b"", port, tool
        while not re.search(rb"serving at|listening on", said):
            line = self.process.stderr.readline()
            said += line
            if not line:
                raise Failed(f"the server said {said!r}")

    def post(self, body, *lines):
        lines = [f"{name}: {value}" for name, value in (("Host", f"127.0.0.1:{self.port}"), ("Content-Type", "application/json"),
                 ("Accept", "application/json, text/event-stream"), *lines, ("Content-Length", len(body)))]
        return "\r\n".join(["POST /mcp HTTP/1.1", *lines, "", ""]).encode() + body

    def __enter__(self):
        self.request = self.make_request()
        self.flow(100, 1)
        return self

    def make_request(self):
        meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
        self.body = message("tools/call", {**self.tool.params, "_meta": meta}, 1)
        self.headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"),
                        ("Mcp-Name", self.tool.params["name"])]
        return self.post(self.body, *self.headers)

    def connect(self):
        s = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return s

    @staticmethod
    def is_whole(data):
        head = HEAD.match(data)
        length = LENGTH.search(head[0]) if head else None
        if not head:
            if b"\r\n\r\n" in data:
                raise Failed(f"the server answered: {bytes(data[:200])!r}")
            return False
        return len(data) >= head.end() + int(length[1]) if length else data.endswith(b"0\r\n\r\n")

    def rate(self, caller, ms, connections):
        return rate(caller, str(self.port), ms, connections, self.tool, self.request)

    def flow(self, ms, connections, calls=None):
        """Calls a second, for so long or so many, by this program."""
        ready, left, done = selectors.DefaultSelector(), [], 0
        for _ in range(connections):
            s = self.connect()
            s.sendall(self.request)
            left.append(s)
            ready.register(s, selectors.EVENT_READ, bytearray())
        start = time.monotonic()
        end = start + ms / 1000
        while left:
            answers = ready.select(PATIENCE_S)
            if not answers:
                raise Failed("the server does not answer")
            for key, _ in answers:
                s, data = key.fileobj, key.data
                piece = s.recv(65536)
                data += piece
                if not piece:
                    raise Failed(f"the server ended a connection: {bytes(data[:200])!r}")
                if not self.is_whole(data):
                    continue
                if self.tool.right not in data:
                    raise Failed(f"the server answered: {bytes(data[:300])!r}")
                data.clear()
                done += 1
                if (calls and done + len(left) <= calls) or (not calls and time.monotonic() < end):
                    s.sendall(self.request)
                else:
                    ready.unregister(s)
                    left.remove(s)
                    s.close()
        return done / (time.monotonic() - start)


class LegacyWeb(Web):
    """One that begins with a handshake, and answers with events."""

    def make_request(self):
        with self.connect() as s:
            s.sendall(self.post(message("initialize", HELLO, 1)))
            data = bytearray()
            while not data or not self.is_whole(data):
                data += s.recv(65536)
            session = re.search(rb"\r\nmcp-session-id: (\S+)\r\n", data, re.I)[1].decode()
            self.headers = [("Mcp-Session-Id", session), ("MCP-Protocol-Version", "2025-11-25")]
            s.sendall(self.post(message("notifications/initialized", None), *self.headers))
            s.recv(65536)
        self.body = message("tools/call", self.tool.params, 1)
        return self.post(self.body, *self.headers)


# ---- those that are measured ----


def glovebox_stdio(program, python, env):
    return Stdio([program, "mcp", "--python", python], env, EXECUTE)


def glovebox_web(program, python, env, *options):
    port = free_port()
    return Web([program, "serve", "--no-auth", "--listen", f"127.0.0.1:{port}", "--rate", "1000000", "--python", python,
                *options], env, EXECUTE, port)


def everything_stdio(env):
    return Stdio([NODE, EVERYTHING, "stdio"], env, ECHO)


def everything_web(env):
    port = free_port()
    return LegacyWeb([NODE, EVERYTHING, "streamableHttp"], {**env, "PORT": str(port)}, ECHO, port)
