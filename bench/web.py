"""`glovebox serve`, and a client that calls execute_code over so many connections at once."""
import json
import re
import selectors
import socket
import subprocess
import time

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}}
CALL = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
    "name": "execute_code", "arguments": {"code": "1 + 1"}, "_meta": META}}).encode()
REQUEST = (b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
           b"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: execute_code\r\n"
           b"Accept: application/json, text/event-stream\r\nContent-Length: %d\r\n\r\n" % len(CALL)) + CALL
HEAD = re.compile(rb"HTTP/1\.1 200 .*?\r\nContent-Length: (\d+)\r\n(?:[^\r]+\r\n)*\r\n", re.S)


class Web:
    def __init__(self, program, python, env):
        self.process = subprocess.Popen([program, "serve", "--no-auth", "--listen", "127.0.0.1:0", "--rate", "1000000",
                                         "--python", python], env=env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said = self.process.stderr.readline()
        found = re.search(rb"http://127\.0\.0\.1:(\d+)", said)
        if not found:
            raise RuntimeError(f"glovebox serve said {said!r}")
        self.address = ("127.0.0.1", int(found[1]))

    def __enter__(self):
        self.flow(100, 1)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)
        self.process.stderr.close()

    def rss_kb(self):
        with open(f"/proc/{self.process.pid}/statm") as f:
            return int(f.read().split()[1]) * 4

    def flow(self, ms, connections, calls=None):
        """Calls a second, for so long or so many."""
        ready, left, done = selectors.DefaultSelector(), [], 0
        for _ in range(connections):
            s = socket.create_connection(self.address, timeout=60)
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            s.sendall(REQUEST)
            left.append(s)
            ready.register(s, selectors.EVENT_READ, bytearray())
        start = time.monotonic()
        end = start + ms / 1000
        while left:
            for key, _ in ready.select(60):
                s, data = key.fileobj, key.data
                piece = s.recv(65536)
                data += piece
                head = HEAD.match(data)
                if not piece or (not head and b"\r\n\r\n" in data):
                    raise RuntimeError(f"glovebox serve answered: {bytes(data[:200])!r}")
                if not head or len(data) < head.end() + int(head[1]):
                    continue
                if b'"value":2' not in data:
                    raise RuntimeError(f"glovebox serve answered: {bytes(data[:300])!r}")
                data.clear()
                done += 1
                if (calls and done + len(left) <= calls) or (not calls and time.monotonic() < end):
                    s.sendall(REQUEST)
                else:
                    ready.unregister(s)
                    left.remove(s)
                    s.close()
        return done / (time.monotonic() - start)
