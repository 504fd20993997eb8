"""Other MCP servers over HTTP that behave badly, and what our client says to all of them."""
import json
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import box

OBJECT = {"type": "object"}
TRY = """
def attempt(f, **args):
    try:
        return f(**args)
    except Exception as e:
        return [type(e).__name__, getattr(e, "type", None), getattr(e, "message", str(e))]
"""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", **headers):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def event(self, message, end="\n\n", **fields):
        lines = [f"{k}: {v}" for k, v in fields.items()] + [f"data: {json.dumps(message)}" if message is not None else "data:"]
        self.wfile.write(("\n".join(lines) + end).encode())
        self.wfile.flush()

    def do_GET(self):
        self.server.heard.append(("GET", None, dict(self.headers)))
        self.server.on_get(self)

    def do_DELETE(self):
        self.server.heard.append(("DELETE", None, dict(self.headers)))
        self.reply(200)

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.heard.append((message.get("method"), message, dict(self.headers)))
        self.server.on_post(self, message)


@pytest.fixture
def http():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.heard, server.session, server.sessions = [], None, 0
    server.on_get = lambda h: h.reply(405)
    server.tool = lambda h, id, name, args: h.reply(200, {"jsonrpc": "2.0", "id": id, "result": {
        "content": [{"type": "text", "text": f"{name} {json.dumps(args)}"}]}}, Content_Type="application/json")
    server.on_post = lambda h, m: legacy(h, m)
    server.url = f"http://127.0.0.1:{server.server_address[1]}/mcp"
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def legacy(h, m):
    """A server of the era of handshakes, with a session if there is to be one."""
    id, method, server = m.get("id"), m.get("method"), h.server

    def answer(result, **headers):
        h.reply(200, {"jsonrpc": "2.0", "id": id, "result": result}, Content_Type="application/json", **headers)
    if method == "server/discover":
        return h.reply(400, b"what?")
    if method == "initialize":
        server.sessions += 1
        more = {"Mcp_Session_Id": f"{server.session}-{server.sessions}"} if server.session else {}
        return answer({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {}}, **more)
    if server.session and h.headers.get("Mcp-Session-Id") != f"{server.session}-{server.sessions}":
        return h.reply(404)
    if id is None:
        return h.reply(202)
    if method == "tools/list":
        return answer({"tools": [{"name": name, "inputSchema": OBJECT} for name in ("one", "two")]})
    return server.tool(h, id, m["params"]["name"], m["params"].get("arguments"))


@pytest.fixture
def run(http, tmp_path):
    def go(code, **more):
        done = attempt(http, tmp_path, code, **more)
        assert done.stdout, done.stderr
        return json.loads(done.stdout)
    return go


def attempt(http, tmp_path, code, **more):
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"web": {"url": http.url, **more}}}))
    return box.glovebox("run", "--json", "--mcp", path, "-c", TRY + code)


def test_a_session(http, run):
    http.session = "abc"
    result = run("[web.one(a=1), web.two()]", headers={"X-Key": "k"})
    assert result["value"] == ['one {"a": 1}', "two {}"], result["error"]
    said = {method: headers for method, _, headers in http.heard}
    assert "Mcp-Session-Id" not in said["initialize"] and "MCP-Protocol-Version" not in said["initialize"]
    for method in ("notifications/initialized", "tools/list", "tools/call", "DELETE"):
        assert said[method]["Mcp-Session-Id"] == "abc-1" and said[method]["MCP-Protocol-Version"] == "2025-06-18"
    assert all(headers["X-Key"] == "k" for headers in said.values())
    order = [method for method, _, _ in http.heard if method != "GET"]
    assert order[:4] == ["server/discover", "initialize", "notifications/initialized", "tools/list"]
    assert order[-1] == "DELETE"


def test_a_session_that_ends(http, run):
    http.session = "abc"

    def lose(h, id, name, args):
        http.sessions += 1 if name == "two" and http.sessions == 1 else 0
        if http.sessions == 2 and h.headers["Mcp-Session-Id"] == "abc-1":
            return h.reply(404)
        h.reply(200, {"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": name}]}},
                Content_Type="application/json")
    http.tool = lose
    result = run("[web.one(), attempt(web.two)[1], web.one()]")
    assert result["value"] == ["one", "ServerGone", "one"], result["error"]


def test_streams_in_odd_pieces(http, run):
    def odd(h, id, name, args):
        h.stream()
        h.wfile.write(b": a comment\n\n")
        h.event({"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}, id="1")
        text = json.dumps({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": "é" * 10}]}}, indent=1)
        for byte in ("\r\n".join("data: " + line for line in text.splitlines()) + "\r\n\r\n").encode():
            h.wfile.write(bytes([byte]))
    http.tool = odd
    assert run("web.one()")["value"] == "é" * 10


def test_a_stream_that_breaks_off_is_resumed(http, run):
    pending = {}

    def leave(h, id, name, args):
        h.stream()
        h.event(None, id="e7", retry="100")
        pending["id"] = id

    def on_get(h):
        if h.headers.get("Last-Event-ID") != "e7":
            return h.reply(405)
        h.stream()
        h.event({"jsonrpc": "2.0", "id": pending["id"], "result": {"content": [{"type": "text", "text": "late"}]}}, id="e8")
    http.tool, http.on_get = leave, on_get
    assert run("web.one()")["value"] == "late"


@pytest.mark.parametrize("what, type, message", [
    (lambda h: h.reply(500, b"<html>"), "ServerError", "HTTP status 500"),
    (lambda h: h.reply(401), "ServerError", "HTTP status 401: it wants other credentials"),
    (lambda h: h.reply(307, Location="http://127.0.0.1:1/"), "ServerGone", "it sent no answer"),
    (lambda h: h.reply(200, b"", Content_Type="application/json"), "ServerGone", "it sent no answer"),
    (lambda h: h.reply(200, b"{oops", Content_Type="application/json"), "ServerGone", "it sent no answer"),
    (lambda h: h.reply(200, {"jsonrpc": "2.0", "id": 999, "result": {}}), "ServerGone", "it sent no answer"),
    (lambda h: (h.stream(), h.event({"jsonrpc": "2.0", "id": 999, "result": {}})), "ServerGone", "it sent no answer"),
    (lambda h: h.connection.shutdown(2), "ServerGone", "127.0.0.1"),
], ids=["500", "401", "redirect", "empty", "no JSON", "another's", "another's event", "gone"])
def test_answers_that_are_none(http, run, what, type, message):
    http.tool = lambda h, id, name, args: what(h) if name == "one" else h.reply(
        200, {"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": "fine"}]}}, Content_Type="application/json")
    result = run("[attempt(web.one), web.two()]", headers={"Authorization": "Bearer the-token"})
    assert result["status"] == "ok", result["error"]
    assert result["value"][0][1] == type and message in result["value"][0][2] and result["value"][1] == "fine"
    assert "the-token" not in json.dumps(result)


def test_answers_that_are_huge(http, run):
    def huge(h, id, name, args):
        if args.get("stream"):
            h.stream()
            h.wfile.write(b"data: ")
        else:
            h.send_response(200)
            h.send_header("Content-Type", "application/json")
            h.send_header("Connection", "close")
            h.end_headers()
            h.close_connection = True
        try:
            for _ in range(100):
                h.wfile.write(b"x" * (1 << 20))
        except OSError:
            pass
    http.tool = huge
    result = run("[attempt(web.one, stream=True)[1:], attempt(web.one)[1:]]")
    assert result["value"] == [["InvalidResult", "the server 'web': it sent a message of more than 8 MiB"]] * 2


def test_one_that_hangs(http, run):
    http.tool = lambda h, id, name, args: time.sleep(3) if name == "one" else h.reply(
        200, {"jsonrpc": "2.0", "id": id, "result": {"content": []}}, Content_Type="application/json")
    result = run("[attempt(web.one)[1], web.two()]", timeout=0.3)
    assert result["value"] == ["Timeout", None], result["error"]


def test_one_that_is_not_there(tmp_path):
    path = tmp_path / "mcp.json"
    for url, why in (("http://127.0.0.1:1/mcp", "127.0.0.1:1: "), ("ftp://x/", "neither https nor http"),
                     ("http://user:pass@127.0.0.1/", "has a user name or a password in it")):
        path.write_text(json.dumps({"mcpServers": {"web": {"url": url}}}))
        done = box.glovebox("run", "--mcp", path, "-c", "1")
        assert done.returncode == 125 and "the MCP server 'web' is not there" in done.stderr and why in done.stderr
        assert "user:pass" not in done.stderr


# ---- TLS ----

@pytest.fixture
def https(http, certs):
    """The same with a certificate by name."""
    def go(name):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certs[name])
        http.socket = context.wrap_socket(http.socket, server_side=True)
        http.url = f"https{http.url[4:]}"
        http.handle_error = lambda *_: None  # who does not trust us hangs up
        return http
    return go


def test_tls(https, run, certs):
    https("good")
    result = run("[web.one(a=1), web.two()]", ca=str(certs["authority"][0]), headers={"Authorization": "Bearer secret"})
    assert result["value"] == ['one {"a": 1}', "two {}"], result["error"]


@pytest.mark.parametrize("name, ca", [("good", None), ("good", "stranger"), ("by_stranger", "authority"),
                                      ("other_host", "authority"), ("expired", "authority")])
def test_tls_that_cannot_be_trusted(https, tmp_path, certs, name, ca):
    """Nothing is sent to it, its credentials least of all."""
    http = https(name)
    done = attempt(http, tmp_path, "1", headers={"Authorization": "Bearer secret"}, **({"ca": str(certs[ca][0])} if ca else {}))
    assert done.returncode == 125 and "certificate" in done.stderr and "secret" not in done.stderr, done.stderr
    assert http.heard == []


def test_an_authority_that_is_not_there(http, tmp_path):
    done = attempt(http, tmp_path, "1", ca="/nonexistent/ca.pem")
    assert done.returncode == 2 and "ca: reading /nonexistent/ca.pem" in json.loads(done.stdout)["error"]["message"]


@pytest.mark.parametrize("event", [b'data: {"jsonrpc": "2.0", "method": "notifications/progress"}\n\n', b"data: no message\n\n",
                                   b'data: {"jsonrpc": "2.0", "id": 99, "result": {}}\n\n'])
def test_a_flood_closes_the_link_it_comes_over(http, tmp_path, event):
    """The link is closed in the middle of what is being read from it."""
    def flood(h):
        h.stream()
        try:
            h.wfile.write(event * 60000)
        except OSError:
            pass
    http.on_get = flood
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"web": {"url": http.url}}}))
    code = TRY + "import time; time.sleep(1.5); [attempt(web.one)[0] for _ in range(2)]"
    done = box.glovebox("run", "--json", "--mcp", path, "-c", code, env={"MALLOC_PERTURB_": "165"})
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    assert "floods" in done.stderr or "says more" in done.stderr
