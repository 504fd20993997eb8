"""glovebox serve: hostile, broken and greedy clients. Each gets a clear error, and nobody gets in."""
import json
import os
import signal
import socket
import subprocess
import threading
import time
from contextlib import ExitStack

import pytest

import box
import web


@pytest.fixture(scope="module")
def server():
    with web.Server() as s:
        yield s
        # Whatever was done to it, it is as it was.
        assert s.get("/healthz").status == 200
        assert box.until(lambda: s.metrics()["glovebox_http_busy"] == 1)
        assert s.metrics()["glovebox_http_held_bytes"] < 10000
        assert s.metrics()["glovebox_mcp_calls"] == 0


# This file's server stays; those that tests start are waited for.
@pytest.fixture(autouse=True)
def leaves_no_process():
    yield


BODY = b'{"code": "6 * 7"}'


# ---- who may ask ----

@pytest.mark.parametrize("value", [
    None, "", "Bearer", "Bearer ", "Bearer x", "Basic {token}", "{token}", "Bearer {token}x",
    "Bearer {short}", "Bearer {swapped}", "Bearer {token} {token}", "Token {token}",
    "Bearer ../../token", "Bearer \u00e9",
])
@pytest.mark.parametrize("path", ["/mcp", "/v1/run", "/v1/check", "/metrics", "/nothing", "/"])
def test_without_the_token_nothing_is_told(server, path, value):
    t = server.token
    if value:
        value = value.format(token=t, short=t[:-1], swapped=t.swapcase()).encode("latin-1")
    method = "GET" if path == "/metrics" else "POST"
    runs = sum(v for k, v in server.metrics().items() if k.startswith("glovebox_runs_total"))
    reply = server.request(method, path, BODY if method == "POST" else None,
                           {"Authorization": value, "Content-Type": "application/json"})
    assert reply.status == 401, reply.body
    assert reply.headers["WWW-Authenticate"].startswith("Bearer")
    assert b"42" not in reply.body and t.encode() not in reply.body
    after = sum(v for k, v in server.metrics().items() if k.startswith("glovebox_runs_total"))
    assert after == runs


def test_the_scheme_is_written_in_any_case(server):
    assert server.get("/metrics", {"Authorization": f"bearer  {server.token}"}).status == 200


def test_a_token_in_the_query_is_none(server):
    reply = server.get(f"/metrics?token={server.token}&access_token={server.token}",
                       {"Authorization": None})
    assert reply.status == 401


def test_two_tokens_are_none(server):
    status, answer = server.says_raw(
        server.head("GET", "/metrics", "Authorization: Bearer wrong", "Connection: close") + b"\r\n")
    assert status == 400 and b"glovebox_" not in answer


@pytest.mark.parametrize("host, status", [
    ("localhost", 200), ("localhost:1", 200), ("LOCALHOST", 200), ("127.0.0.1", 200), ("127.0.0.1:80", 200),
    ("127.9.9.9", 200), ("[::1]", 200), ("[::1]:80", 200), ("localhost.", 200),
    ("evil.example", 403), ("evil.example:8377", 403), ("localhost.evil.example", 403), ("10.0.0.1", 403),
    ("127.0.0.1.evil.example", 403), ("0x7f000001", 403), ("0.0.0.0", 403), ("[::1", 403), ("[::2]", 403),
    ("localhost:x", 403), ("", 403), ("localhost@evil.example", 403), ("localhost/x", 403),
])
@pytest.mark.parametrize("path", ["/healthz", "/metrics"])
def test_hosts(server, host, status, path):
    assert server.get(path, {"Host": host}).status == status


def test_a_host_in_the_target_counts_as_well(server):
    with server.raw(server.head("GET", "http://evil.example/healthz", "Connection: close") + b"\r\n") as s:
        assert web.status_of(web.read_all(s)) == 403
    with server.raw(server.head("GET", "http://localhost/healthz", "Connection: close") + b"\r\n") as s:
        assert web.status_of(web.read_all(s)) == 200


@pytest.mark.parametrize("origin, status", [
    ("http://localhost", 200), ("http://localhost:3000", 200), ("https://127.0.0.1:8443", 200),
    ("http://[::1]:80", 200), ("null", 403), ("", 403), ("http://evil.example", 403),
    ("http://localhost.evil.example", 403), ("file://", 403), ("chrome-extension://abc", 403),
    ("http://localhost@evil.example", 403), ("ftp://localhost", 403), ("http://", 403), ("http", 403),
])
def test_origins(server, origin, status):
    reply = server.get("/healthz", {"Origin": origin})
    assert reply.status == status
    assert reply.headers["Access-Control-Allow-Origin"] == (origin if status == 200 else None)


def test_names_and_origins_that_are_allowed():
    with web.Server("--allow-host", "box.example", "--allow-origin", "https://app.example") as s:
        assert s.get("/healthz", {"Host": "box.example"}).status == 200
        assert s.get("/healthz", {"Host": "box.example:443"}).status == 200
        assert s.get("/healthz", {"Host": "app.example"}).status == 403
        assert s.get("/healthz", {"Origin": "https://app.example"}).status == 200
        assert s.get("/healthz", {"Origin": "http://app.example"}).status == 403
        asked = s.request("OPTIONS", "/mcp", headers={"Origin": "https://app.example",
                                                      "Authorization": None})
        assert asked.status == 204 and "Mcp-Method" in asked.headers["Access-Control-Allow-Headers"]
        assert s.request("OPTIONS", "/mcp", headers={"Origin": "https://evil.example"}).status == 403


def test_guesses_are_slowed_down_and_cost_nobody_else():
    """A wrong token counts for many requests of strangers, and for none of those who have the right one."""
    with web.Server("--rate", "20") as s:
        for i in range(40):
            reply = s.get("/metrics", {"Authorization": f"Bearer guess{i}"})
            if reply.status != 401:
                break
        assert reply.status == 429 and reply.headers["Retry-After"] == "1"
        assert s.get("/metrics").status == 200


# ---- malformed requests ----

def test_lengths_that_contradict_each_other(server):
    n = len(BODY)
    for lines in ([f"Content-Length: {n}", f"Content-Length: {n}"],
                  [f"Content-Length: {n}", f"Content-Length: {n + 1}"],
                  [f"Content-Length: {n}", "Transfer-Encoding: chunked"],
                  ["Transfer-Encoding: chunked", f"Content-Length: {n}"],
                  ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
                  ["Transfer-Encoding: chunked, identity", f"Content-Length: {n}"],
                  ["Transfer-Encoding: identity"], ["Transfer-Encoding: gzip, chunked"],
                  [f"Content-Length: +{n}"], [f"Content-Length: {n}, {n}"], ["Content-Length: -1"],
                  ["Content-Length: 0x11"], ["Content-Length: "], [f"Content-Length: {n} 5"],
                  ["Content-Length : 17"], [f"Content-Length\t: {n}"]):
        # What follows is another request, which must not be answered.
        data = server.head("POST", "/v1/run", *lines) + b"\r\n" + BODY + \
            server.head("GET", "/healthz") + b"\r\n"
        with server.raw(data, timeout=10) as s:
            s.shutdown(socket.SHUT_WR)
            answer = web.read_all(s)
        assert answer.count(b"HTTP/1.1 ") <= 1, (lines, answer)
        assert web.status_of(answer) in (400, 413, None), (lines, answer)
        assert b'"value":42' not in answer


@pytest.mark.parametrize("chunks", [
    b"-1\r\nx\r\n0\r\n\r\n", b"ffffffffffffffff\r\nx", b"7fffffffffffffff\r\nx\r\n0\r\n\r\n",
    b"zz\r\nx\r\n0\r\n\r\n", b"10000000\r\nx",
    b"11\n" + BODY + b"\n0\n\n", b"11\r\n" + BODY + b"x\r\n0\r\n\r\n", b"11\r\n" + BODY + b"\r\n0\r\nno field\r\n\r\n",
])
def test_chunks_that_lie(server, chunks):
    with server.raw(server.head("POST", "/v1/run", "Transfer-Encoding: chunked") + b"\r\n" + chunks,
                    timeout=10) as s:
        s.shutdown(socket.SHUT_WR)
        answer = web.read_all(s)
    assert web.status_of(answer) in (400, 413, None), answer


@pytest.mark.parametrize("size", [b"0x11", b"+11", b"11 zzz", b" 11", b"11 ", b"11;", b"11;=x", b"11\t", b"11h"])
def test_sizes_of_chunks_are_digits(server, size):
    data = server.head("POST", "/v1/run", "Transfer-Encoding: chunked", "Connection: close") + b"\r\n" + \
        size + b"\r\n" + BODY + b"\r\n0\r\n\r\n"
    assert server.says_raw(data)[0] == 400


@pytest.mark.parametrize("chunks", [
    b"11;ext=1\r\n" + BODY + b"\r\n0\r\n\r\n", b'0011 ; a="b;\\"" ; c\r\n' + BODY + b"\r\n000;last\r\n\r\n",
    b"10\r\n" + BODY[:16] + b"\r\n1\r\n" + BODY[16:] + b"\r\n0\r\nX-Sum: 1\r\n\r\n",
])
def test_chunks_that_are_legal(server, chunks):
    with server.raw(server.head("POST", "/v1/run", "Transfer-Encoding: chunked", "Connection: close") + b"\r\n" + chunks) as s:
        assert b'"value":42' in web.read_all(s)


@pytest.mark.parametrize("data", [
    b"\r\n\r\n", b"\x00" * 100, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n",
    b"GET  /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"get /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"BREW /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20,
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX y: 1\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n: 1\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\x01b\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello",
    b"GET /healthz HTTP/1.1\nnonsense\n\n", b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET //// HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET \xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
], ids=lambda data: repr(data)[:40])
def test_what_is_no_request(server, data):
    with server.raw(data, timeout=10) as s:
        s.shutdown(socket.SHUT_WR)
        answer = web.read_all(s)
    assert web.status_of(answer) in (400, 401, 403, 404, 405, 413, 501, None), answer
    assert b'"status":"ok"' not in answer
    assert server.get("/healthz").status == 200


def test_what_is_refused_before_anybody_sees_it_is_counted(server):
    def counted(name):
        return server.metrics()[f"glovebox_http_{name}"]
    names = ['refused_total{reason="malformed"}', 'refused_total{reason="size"}', 'replies_total{class="4xx"}']
    before = [counted(n) for n in names]
    server.says_raw(b"nonsense\r\n\r\n")
    server.says_raw(server.head("POST", "/v1/run", "Content-Length: 9000000", "Connection: close") + b"\r\n" + b"x" * 9_000_000)
    assert [counted(n) - b for n, b in zip(names, before)] == [1, 1, 2]
    with server.raw(server.head("POST", "/v1/run", "Expect: 100-continue", f"Content-Length: {len(BODY)}") + b"\r\n") as s:
        assert b"100 Continue" in web.read_until(s, b"\r\n\r\n")
        s.sendall(BODY)
        web.read_until(s, b"timings")
    assert [counted(n) - b for n, b in zip(names, before)] == [1, 1, 2]


def test_headers_without_end(server):
    with server.raw(server.head("GET", "/healthz")) as s:
        try:
            for i in range(2000):
                s.sendall(b"X-%d: %s\r\n" % (i, b"y" * 100))
        except OSError:
            pass
        answer = web.read_all(s)
    assert web.status_of(answer) in (400, 413, 431, None)
    assert len(answer) < 5000


@pytest.mark.parametrize("type", [None, "text/plain", "application/x-www-form-urlencoded",
                                  "multipart/form-data; boundary=x", "application/jsonx", "json"])
def test_other_types_than_json(server, type):
    for path in ("/v1/run", "/mcp"):
        assert server.request("POST", path, BODY, {"Content-Type": type}).status == 415
    assert server.request("POST", "/v1/run", BODY,
                          {"Content-Type": "Application/JSON; charset=utf-8"}).status == 200


def test_a_client_that_takes_neither(server):
    assert server.legacy("ping", headers={"Accept": "text/html"}).status == 406


def test_methods(server):
    for path, right in (("/v1/run", "POST"), ("/v1/check", "POST"), ("/healthz", "GET"), ("/metrics", "GET")):
        for method in ("GET", "POST", "DELETE", "PUT", "PATCH", "HEAD"):
            if method != right:
                reply = server.request(method, path)
                assert (reply.status, reply.headers["Allow"]) == (405, right), (method, path)


def test_paths(server):
    for path in ("/", "/v1", "/v1/", "/v1/run/", "/v1/run/../run", "/mcp/", "/V1/RUN", "/v1%2frun",
                 "/.well-known/oauth-protected-resource", "/healthz/x"):
        assert server.post(path, {"code": "1"}).status == 404, path


def test_refusals_say_what_would_do(server):
    def error(reply):
        assert 400 <= reply.status < 500
        told = json.loads(reply.body)["error"]
        return told["message"] + "; " + told["hint"]
    there = error(server.get("/v1"))
    assert all(path in there for path in ("/mcp", "/v1/run", "/v1/shell", "/v1/check", "/healthz", "/metrics"))
    assert error(server.get("/v1/run")).startswith("this path takes POST")
    missing, wrong = (error(server.get("/metrics", {"Authorization": a})) for a in (None, "Bearer x"))
    assert "a token is needed" in missing and "this is not the server's token" in wrong
    assert "at its start which file" in missing and "at its start which file" in wrong
    assert "send it to /v1/shell" in error(server.post("/v1/run", {"command": "ls"}))
    assert '"kind": "session"' in error(server.post("/v1/run", {"op": "jobs", "session": "s"}))


def test_a_port_that_is_taken(server):
    done = box.glovebox("serve", "--listen", server.port, "--no-auth")
    assert done.returncode == 125 and "Address already in use" in done.stderr
    assert "hint: another server is there; --listen with another port" in done.stderr


def test_a_host_that_holds_no_box_is_told_of_at_the_start(without):
    with web.Server(before=without("namespaces", "landlock")) as s:
        s.says("no program can run here: this kernel offers Landlock ABI 0")
        reply = s.post("/v1/run", {"code": "1"})
        assert reply.status == 500 and b"no_isolation" in reply.body


# ---- too much ----

def test_100_megabytes(server):
    n = 100 << 20
    rss = memory(server)
    for lines in ([f"Content-Length: {n}"], ["Transfer-Encoding: chunked"]):
        with server.raw(server.head("POST", "/v1/run", "Connection: close", *lines) + b"\r\n") as s:
            block = b"x" * 65536
            try:
                for _ in range(n // len(block)):
                    s.sendall(b"10000\r\n" + block + b"\r\n" if len(lines[0]) > 25 else block)
            except OSError:
                pass
            answer = web.read_all(s)
        assert web.status_of(answer) in (413, None), answer[:200]
    assert memory(server) - rss < 24 << 20


def memory(server):
    return server.metrics()["process_resident_memory_bytes"]


def descriptors(server):
    return server.metrics()["process_open_fds"]


def test_a_length_that_nobody_can_mean(server):
    for n in (1 << 40, (1 << 63) - 1, 1 << 63, 1 << 70):
        with server.raw(server.head("POST", "/v1/run", f"Content-Length: {n}") + b"\r\n" + BODY, timeout=5) as s:
            s.shutdown(socket.SHUT_WR)
            assert web.status_of(web.read_all(s)) in (400, 413, None)


def test_a_body_of_the_size_that_is_allowed():
    with web.Server("--max-body", "64K") as s:
        assert s.run("#" + "x" * 60000 + "\n1").json()["value"] == 1
        assert s.run("#" + "x" * 70000 + "\n1").status == 413


def test_many_unfinished_bodies_are_bounded():
    with web.Server("--max-body", "32M", "--request-timeout", "30") as s, ExitStack() as stack:
        before, refused = memory(s), 'glovebox_http_refused_total{reason="held_bytes"}'
        for _ in range(8):
            c = stack.enter_context(s.raw(s.head("POST", "/v1/run", "Content-Length: 30000000") + b"\r\n"))
            c.settimeout(0.7)
            try:
                c.sendall(b"x" * 20_000_000)
            except OSError:  # closed meanwhile
                pass
        assert box.until(lambda: s.metrics()[refused] >= 4)
        assert s.metrics()["glovebox_http_held_bytes"] <= 64 << 20
        assert memory(s) - before < 120 << 20
        assert s.run("1").status == 200


def test_strangers_can_send_little_and_push_nobody_out():
    """Who has not shown the token has 16 KiB; however many they are, others have room."""
    with web.Server("--max-body", "8M", "--request-timeout", "30") as s, ExitStack() as stack:
        big, before = "#" + "x" * 500_000 + "\n1", memory(s)
        for token in (None, "Bearer wrong", f"Basic {s.token}"):
            head = b"POST /v1/run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            head += f"Authorization: {token}\r\n".encode() if token else b""
            status, said = s.says_raw(head + b"Connection: close\r\nContent-Length: 10000\r\n\r\n" + b"x" * 10000)
            assert status == 401, said
            status, said = s.says_raw(head + b"Connection: close\r\nContent-Length: 50000\r\n\r\n" + b"x" * 50000)
            assert status == 413, said
        for _ in range(100):
            stack.enter_context(s.raw(head + b"Content-Length: 8000000\r\n\r\n" + b"x" * 200_000))
        assert s.metrics()["glovebox_http_connections_total"] > 100
        assert s.metrics()["glovebox_http_held_bytes"] < 100 * 100_000
        assert memory(s) - before < 16 << 20
        assert s.run(big).json()["value"] == 1
        assert s.metrics()['glovebox_http_refused_total{reason="held_bytes"}'] == 0


def test_the_token_is_seen_however_it_comes():
    """In pieces, with a body behind it, in the second request of a connection, after one that was refused."""
    with web.Server() as s:
        body = json.dumps({"code": "#" + "x" * 100_000 + "\n1 + 1"}).encode()
        whole = s.head("POST", "/v1/run", f"Content-Length: {len(body)}") + b"\r\n" + body
        for cut in (1, whole.index(b"Authorization") + 5, whole.index(b"Bearer") + 20, whole.index(b"\r\n\r\n") + 3):
            with s.raw(whole[:cut]) as c:
                time.sleep(0.02)
                c.sendall(whole[cut:])
                assert b'"value":2' in web.read_until(c, b"timings")
        stranger = b"POST /v1/run HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"
        with s.raw(stranger + whole) as c:
            assert b'"value":2' in web.read_until(c, b"timings")


def test_too_many_at_once_are_told_to_come_back():
    with web.Server("-j", "1", "--max-waiting", "2") as s:
        threads = [threading.Thread(target=s.run, args=("import time; time.sleep(0.8)",)) for _ in range(3)]
        for t in threads:
            t.start()
        assert box.until(lambda: s.metrics()["glovebox_runs_waiting"] == 2)
        for reply in (s.run("1"), s.execute("1")):
            assert reply.status == 503 and reply.headers["Retry-After"] == "1"
            assert reply.json()["error"]["type"] == "busy"
        assert s.modern("tools/list").status == 200  # what runs nothing goes on
        for t in threads:
            t.join()
        assert s.run("1").status == 200
        assert s.metrics()['glovebox_http_refused_total{reason="busy"}'] == 2


def test_too_many_connections():
    with web.Server("--max-connections", "8") as s, ExitStack() as stack:
        # Busy ones, whose places nobody can have.
        for _ in range(8):
            stack.enter_context(s.raw(s.head("POST", "/v1/run", "Content-Length: 100") + b"\r\n"))
        time.sleep(0.2)
        reply = s.get("/healthz")
        assert reply.status == 503 and reply.headers["Retry-After"] and reply.headers["Connection"] == "close"
        stack.close()
        assert box.until(lambda: s.get("/healthz").status == 200)


def test_far_too_many_connections():
    with web.Server("--max-connections", "4", "--request-timeout", "1") as s, ExitStack() as stack:
        for _ in range(120):
            stack.enter_context(s.raw(b"GET /healthz HT"))
        assert box.until(lambda: answers(s), 20)  # those who do nothing are dropped
        assert s.metrics()["glovebox_http_connections"] < 4 + 64 + 2


def answers(server):
    try:
        connection = server.connect(timeout=2)
        return server.get("/healthz", on=connection).status == 200
    except OSError:
        return False
    finally:
        connection.close()


def test_a_place_that_is_idle_is_anothers():
    with web.Server("--max-connections", "8") as s, ExitStack() as stack:
        idle = [stack.enter_context(s.raw()) for _ in range(8)]
        time.sleep(1.2)
        assert s.get("/healthz").status == 200
        assert idle[0].recv(1) == b""  # the one that was idle for longest


def test_1000_idle_connections():
    with web.Server("--max-connections", "2000") as s, ExitStack() as stack:
        before = memory(s)
        for _ in range(1000):
            stack.enter_context(s.raw())
        assert box.until(lambda: s.metrics()["glovebox_http_connections"] == 1001)
        started = time.monotonic()
        assert [s.run("1 + 1").json()["value"] for _ in range(20)] == [2] * 20
        assert time.monotonic() - started < 10
        assert memory(s) - before < 32 << 20
        stack.close()
        assert box.until(lambda: s.metrics()["glovebox_http_connections"] == 1)
        assert descriptors(s) < 100


# ---- too slow ----

def test_slow_clients_are_dropped():
    with web.Server("--request-timeout", "1", "--idle-timeout", "1.5") as s:
        slow = {"head": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: " + b"b" * 1000,
                "body": s.head("POST", "/v1/run", "Content-Length: 1000") + b"\r\n" + b" " * 1000,
                "chunks": s.head("POST", "/v1/run", "Transfer-Encoding: chunked") + b"\r\n" + b"1\r\n \r\n" * 200}
        for name, data in slow.items():
            start = len(data) - 900
            with s.raw(data[:start]) as c:
                started, sent = time.monotonic(), 0
                try:
                    while time.monotonic() - started < 10:  # a byte now and then
                        c.sendall(data[start + sent:start + sent + 1])
                        sent += 1
                        time.sleep(0.05)
                except OSError:
                    pass
                assert time.monotonic() - started < 8, name
        assert s.metrics()['glovebox_http_refused_total{reason="slow"}'] == 3
        with s.raw() as c:  # never says a word
            assert c.recv(1) == b""
        with s.raw(s.head("GET", "/healthz") + b"\r\n") as c:  # says nothing more
            web.read_until(c, b'"ok"}')
            assert c.recv(1) == b""


def test_a_request_that_takes_long_is_not_a_slow_client():
    with web.Server("--request-timeout", "0.5", "--idle-timeout", "0.5") as s:
        assert s.run("import time; time.sleep(1.5); 5").json()["value"] == 5


def test_clients_that_vanish_everywhere(server):
    data = server.head("POST", "/v1/run", f"Content-Length: {len(BODY)}") + b"\r\n" + BODY
    for end in range(0, len(data) + 1, 7):
        with server.raw(data[:end]) as s:
            if end % 2:  # with a reset
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    assert box.until(lambda: server.metrics()["glovebox_http_connections"] == 1)
    assert box.until(lambda: server.running() == 0)


def test_a_client_that_reads_nothing_is_dropped_in_the_end(server):
    """What waits for it is bounded meanwhile."""
    before = memory(server)
    code = "import sys\nfor i in range(2000): sys.stdout.write('x' * 65536)"
    body = json.dumps({"code": code}).encode()
    head = server.head("POST", "/v1/run", "Accept: text/event-stream", f"Content-Length: {len(body)}")
    with server.raw(head + b"\r\n" + body):
        time.sleep(1)
        assert memory(server) - before < 40 << 20
    assert box.until(lambda: server.running() == 0)


def test_a_server_whose_engine_dies_says_so():
    """The interpreter is killed under it: the next request is served by another, or told why not."""
    with web.Server() as s:
        assert s.run("1").status == 200
        for pid, name in box.descendants(s.process.pid).items():
            if name == "glovebox-zygote":
                os.kill(pid, signal.SIGKILL)
        replies = [s.run("1 + 1") for _ in range(3)]
        assert all(r.status in (200, 500, 503) for r in replies)
        assert box.until(lambda: s.run("1 + 1").json()["value"] == 2, 20)


def test_no_descriptors_for_more():
    """A server that may open few files says so at its start, and does not die at its limit."""
    limited = ["/bin/sh", "-c", 'ulimit -n 300; exec "$@"', "sh"]
    done = subprocess.run([*limited, box.GLOVEBOX, "serve", "--no-auth", "--listen", "127.0.0.1:0"],
                          capture_output=True, text=True, env=box.ENV, timeout=30)
    assert done.returncode == 125 and "--max-connections" in done.stderr


def test_many_calls_leave_nothing():
    with web.Server("--rate", "100000") as s, ExitStack() as stack:
        connection = s.connect()
        stack.callback(connection.close)

        def some(n):
            for i in range(n):
                assert s.modern("tools/list", on=connection).status == 200
                if i % 10 == 0:
                    assert s.execute("1 + 1", on=connection).status == 200
                    assert s.get("/nothing", on=connection).status == 404
                    assert s.legacy("ping", on=connection).status == 200
                    assert s.run("2", on=connection).status == 200
                if i % 50 == 0:
                    s.initialize()
                    with s.raw_execute("1"):  # and is gone
                        pass

        some(400)
        rss, fds = memory(s), descriptors(s)
        some(2000)
        assert box.until(lambda: s.running() == 0)
        assert box.until(lambda: descriptors(s) <= fds + 8)
        assert memory(s) - rss < (16 << 20 if box.SANITIZED else 2 << 20)
