"""A glovebox that serves HTTP, and ways to talk to it: properly, and as raw bytes."""
import http.client
import json
import os
import re
import select
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager

import box

SLEEP = "import time; print('up', flush=True); time.sleep(60)"
MODERN = "2026-07-28"
LEGACY = "2025-11-25"
META = {"io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"}}


class Reply:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    def json(self):
        return json.loads(self.body)


class LocalConnection(http.client.HTTPConnection):
    """To a Unix socket."""

    def __init__(self, path, timeout=60):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Server:
    def __init__(self, *options, auth=True, listen="127.0.0.1:0", before=(), env=None):
        self.state = tempfile.TemporaryDirectory()
        self.token_file = os.path.join(self.state.name, "token")
        argv = [*before, box.GLOVEBOX, "serve", "--listen", listen, *map(str, options),
                *(("--token-file", self.token_file) if auth else ("--no-auth",))]
        self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, env={**box.ENV, **(env or {})},
                                        start_new_session=True)
        self.said = ""
        self.url = self.says(r"serving at (\S+)")[1]
        self.token = open(self.token_file).read().strip() if auth else None
        self.local = self.url[5:] if self.url.startswith("unix:") else None
        self.port = None if self.local else int(self.url.rpartition(":")[2])

    def says(self, pattern, seconds=20):
        """Wait for it on standard error."""
        end = time.monotonic() + seconds
        while not re.search(pattern, self.said):
            left = end - time.monotonic()
            ready = select.select([self.process.stderr], [], [], max(0, left))[0]
            piece = os.read(self.process.stderr.fileno(), 65536) if ready else b""
            assert piece, f"never said {pattern!r}, but {self.said!r}"
            self.said += piece.decode()
        return re.search(pattern, self.said)

    # ---- properly ----

    def connect(self, timeout=60):
        if self.local:
            return LocalConnection(self.local, timeout)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def headers(self, more=None):
        own = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return {k: v for k, v in {**own, **(more or {})}.items() if v is not None}

    def request(self, method, path, body=None, headers=None, on=None):
        connection = on or self.connect()
        try:
            connection.request(method, path, body, self.headers(headers))
            return Reply(connection.getresponse())
        finally:
            if not on:
                connection.close()

    def get(self, path, headers=None, on=None):
        return self.request("GET", path, None, headers, on)

    def post(self, path, value, headers=None, on=None):
        """`value` as JSON, or as it is (bytes)."""
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        return self.request("POST", path, body, {"Content-Type": "application/json",
                                                 **(headers or {})}, on)

    def run(self, code, on=None, **more):
        return self.post("/v1/run", {"code": code, **more}, on=on)

    def modern(self, method, params=None, id=1, headers=None, meta=None, on=None):
        """A request of 2026-07-28."""
        params = dict(params or {})
        params["_meta"] = {**META, **(meta or {})}
        own = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method,
               "Accept": "application/json, text/event-stream"}
        name = params.get("name", params.get("uri"))
        if name and method in ("tools/call", "prompts/get", "resources/read"):
            own["Mcp-Name"] = name
        return self.post("/mcp", {"jsonrpc": "2.0", "id": id, "method": method, "params": params},
                         {**own, **(headers or {})}, on)

    def execute(self, code, on=None, **arguments):
        return self.modern("tools/call", {"name": "execute_code",
                                          "arguments": {"code": code, **arguments}}, on=on)

    def legacy(self, method, params=None, id=1, session=None, headers=None, on=None):
        message = {"jsonrpc": "2.0", "method": method, **({"params": params} if params else {}),
                   **({"id": id} if id is not None else {})}
        return self.post("/mcp", message, {"Mcp-Session-Id": session,
                                           "Accept": "application/json, text/event-stream",
                                           **(headers or {})}, on)

    def initialize(self, capabilities=None):
        """A session of the handshake era."""
        reply = self.legacy("initialize", {"protocolVersion": LEGACY,
                                           "capabilities": capabilities or {},
                                           "clientInfo": {"name": "tests", "version": "1"}})
        assert reply.status == 200, reply.body
        session = reply.headers["Mcp-Session-Id"]
        assert self.legacy("notifications/initialized", id=None, session=session).status == 202
        return session

    def running(self):
        """How many programs run."""
        return self.metrics()["glovebox_runs_running"]

    def metrics(self):
        """{name{labels}: value}"""
        text = self.get("/metrics").body.decode()
        lines = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
        return {name: float(value) for name, _, value in lines}

    # ---- as raw bytes ----

    @contextmanager
    def raw(self, data=b"", timeout=30):
        s = socket.socket(socket.AF_UNIX if self.local else socket.AF_INET)
        s.settimeout(timeout)
        try:
            s.connect(self.local or ("127.0.0.1", self.port))
            s.sendall(data)
            yield s
        finally:
            s.close()

    def head(self, method="POST", path="/v1/run", *lines, host="localhost"):
        """The head of a request, without the empty line."""
        token = [f"Authorization: Bearer {self.token}"] if self.token else []
        all_lines = [f"{method} {path} HTTP/1.1", *([f"Host: {host}"] if host else []),
                     "Content-Type: application/json", *token, *lines]
        return "\r\n".join(all_lines).encode() + b"\r\n"

    def raw_execute(self, code):
        """A modern call of execute_code that waits for its answer."""
        body = json.dumps({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {
            "name": "execute_code", "arguments": {"code": code}, "_meta": META}}).encode()
        return self.raw(self.head("POST", "/mcp", f"MCP-Protocol-Version: {MODERN}",
                                  "Mcp-Method: tools/call", "Mcp-Name: execute_code",
                                  f"Content-Length: {len(body)}") + b"\r\n" + body)

    def says_raw(self, data):
        """(status, all that came) for these bytes, up to the end of the connection."""
        with self.raw(data) as s:
            answer = read_all(s)
        return status_of(answer), answer

    # ---- the end ----

    def ends(self, how=signal.SIGTERM, seconds=30):
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.wait(seconds)
        self.said += self.process.stderr.read().decode()
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            if self.process.poll() is None:
                self.ends()
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            self.process.stderr.close()
            self.state.cleanup()
        assert self.process.returncode in (0, -9), (self.process.returncode, self.said)


def read_all(s):
    """Up to the end, whichever way it comes."""
    data = b""
    try:
        while piece := s.recv(65536):
            data += piece
    except ConnectionResetError:
        pass
    return data


def read_until(s, mark, seconds=30):
    data = b""
    s.settimeout(seconds)
    while mark not in data:
        piece = s.recv(65536)
        assert piece, f"ended without {mark!r}: {data!r}"
        data += piece
    return data


def status_of(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else None


def events(body):
    """Server-sent events: [(name, value)]."""
    found = []
    for block in body.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line)
        if "data" in fields:
            found.append((fields.get("event"), json.loads(fields["data"])))
    return found
