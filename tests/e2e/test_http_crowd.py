"""glovebox serve: what one client does, stops no other. Each test has a hostile client and a healthy one."""
import json
import os
import re
import socket
import time
from contextlib import ExitStack, contextmanager

import pytest

import box
import web

LOUD = "for n in 'abcd': open(n, 'wb').write(bytes(8 << 20))\n42"  # a reply of 22 MB for a request of a hundred bytes


@pytest.fixture(scope="module")
def server():
    with web.Server() as s:
        yield s
        assert box.until(lambda: s.metrics()["glovebox_http_busy"] == 1)
        m = s.metrics()
        assert m["glovebox_http_held_bytes"] == m["glovebox_http_served_bytes"] == 0
        assert m["glovebox_http_unsent_bytes"] < 10000


# This file's server stays; those that tests start are waited for.
@pytest.fixture(autouse=True)
def leaves_no_process():
    yield


def is_served(s, code="6 * 7", **more):
    """A client that does everything right, on a connection of its own."""
    connection = s.connect(timeout=30)
    try:
        reply = s.run(code, on=connection, **more)
        return reply.status == 200 and reply.json()["value"] == 42
    finally:
        connection.close()


def memory(s):
    return s.metrics()["process_resident_memory_bytes"]


def body_of(code, **more):
    return json.dumps({"code": code, **more}).encode()


def request_of(s, code, *lines, **more):
    body = body_of(code, **more)
    return s.head("POST", "/v1/run", f"Content-Length: {len(body)}", *lines) + b"\r\n" + body


def is_closed(sock, seconds=5):
    sock.settimeout(seconds)
    try:
        return sock.recv(1) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


# ---- places ----

@pytest.mark.parametrize("data", [b"G", b"", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ",
                                  b"POST /v1/run HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{",
                                  b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"],
                         ids=["a byte", "nothing", "half a head", "half a body", "a reply that nobody reads"])
def test_strangers_hold_no_place_that_others_need(data):
    with web.Server("--max-connections", "32") as s, ExitStack() as stack:
        for _ in range(60):
            stack.enter_context(s.raw(data))
        assert [is_served(s) for _ in range(3)] == [True] * 3


def test_those_who_have_shown_the_token_keep_their_places():
    with web.Server("--max-connections", "32") as s, ExitStack() as stack:
        known = s.connect(timeout=30)
        stack.callback(known.close)
        assert s.get("/metrics", on=known).status == 200
        sock = known.sock
        for _ in range(100):
            stack.enter_context(s.raw(b"G"))
        assert s.get("/metrics", on=known).status == 200
        assert known.sock is sock  # and not one that http.client made anew


@contextmanager
def raw_from(s, address, data=b""):
    c = socket.create_connection(("127.0.0.1", s.port), timeout=10, source_address=(address, 0))
    try:
        c.sendall(data)
        yield c
    finally:
        c.close()


def test_the_address_that_has_most_makes_room():
    with web.Server("--max-connections", "32") as s, ExitStack() as stack:
        other = stack.enter_context(raw_from(s, "127.0.0.2", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"))
        many = [stack.enter_context(raw_from(s, "127.0.0.1", b"G")) for _ in range(100)]
        assert is_closed(many[0])  # older than most; `other` is older still
        other.sendall(b"\r\n")
        assert b"200 OK" in other.recv(1000)


# ---- rooms ----

def test_requests_that_are_served_do_not_count_as_being_read():
    big = "x" * 7_900_000
    with web.Server("-j", "20", "--max-waiting", "100") as s, ExitStack() as stack:
        for _ in range(9):
            stack.enter_context(s.raw(request_of(s, web.SLEEP, stdin=big)))
        assert box.until(lambda: s.running() == 9, 30)
        assert s.metrics()["glovebox_http_held_bytes"] == 0
        assert is_served(s, stdin=big)


def test_uploads_that_stop_in_the_middle_leave_room():
    with web.Server() as s, ExitStack() as stack:
        head = s.head("POST", "/v1/run", "Content-Length: 8000000") + b"\r\n"
        for _ in range(10):
            stack.enter_context(s.raw(head)).sendall(b" " * 7_000_000)
        assert is_served(s)
        assert is_served(s, stdin="x" * 1_000_000)
        assert s.metrics()['glovebox_http_refused_total{reason="held_bytes"}'] >= 1
        assert s.metrics()["glovebox_http_held_bytes"] <= 64 << 20


def test_one_reply_at_a_time_waits_for_a_client():
    """Requests in one piece, whose replies nobody reads."""
    with web.Server() as s:
        before = memory(s)
        with s.raw(request_of(s, LOUD) * 30) as c:
            assert box.until(lambda: s.metrics()['glovebox_runs_total{status="ok"}'] > 0, 30)
            time.sleep(1.5)  # what would come, would come now
            assert s.metrics()['glovebox_runs_total{status="ok"}'] == 1
            assert s.metrics()["glovebox_http_unsent_bytes"] < 30 << 20
            assert memory(s) - before < 150 << 20
            assert is_served(s)
            c.settimeout(30)
            got = b""
            while got.count(b"HTTP/1.1 200") < 3:  # who reads on is served on
                got = got[-20:] + c.recv(1 << 20) if got.count(b"HTTP/1.1 200") == 0 else got + c.recv(1 << 20)
        assert box.until(lambda: s.running() == 0)


def test_replies_that_nobody_reads_are_bounded_together():
    with web.Server("-j", "4") as s, ExitStack() as stack:
        before = memory(s)
        for _ in range(16):
            stack.enter_context(s.raw(request_of(s, LOUD)))
        assert box.until(lambda: s.running() == 0 and s.metrics()["glovebox_runs_waiting"] == 0, 60)
        assert memory(s) - before < 280 << 20
        assert s.metrics()["glovebox_http_unsent_bytes"] <= 128 << 20
        # Somebody who reads has room, also for much: those who do not are dropped for it.
        reply = s.run(LOUD)
        assert reply.status == 200 and len(reply.body) > 10_000_000
        assert s.metrics()['glovebox_http_refused_total{reason="unread"}'] >= 1


# ---- leaving ----

@pytest.mark.parametrize("ahead", [0, 100, 20_000, 1_000_000])
def test_a_client_that_sent_ahead_and_left_is_noticed(server, ahead):
    with server.raw(request_of(server, web.SLEEP)) as c:
        assert box.until(lambda: server.running() == 1)
        c.setblocking(False)
        try:
            c.send(b"x" * ahead)
        except BlockingIOError:
            pass
    assert box.until(lambda: server.running() == 0)


# ---- one request, one reply ----

@pytest.mark.parametrize("path", ["/healthz", "/v1/run", "/nothing"])
def test_head_has_no_body(server, path):
    data = server.head("HEAD", path) + b"\r\n" + server.head("GET", "/healthz", "Connection: close") + b"\r\n"
    status, answer = server.says_raw(data)
    first, _, rest = answer.partition(b"\r\n\r\n")
    assert status in (404, 405) and int(re.search(rb"Content-Length: (\d+)", first)[1]) > 0
    assert rest.startswith(b"HTTP/1.1 200") and rest.endswith(b'"ok"}')


def test_every_request_shows_the_token_for_itself(server):
    """Also on a connection whose requests before did."""
    stranger = b"POST /v1/run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    body = body_of("6 * 7", stdin="x" * 100_000)
    for more in (b"Content-Length: %d\r\n\r\n" % len(body) + body,
                 b"Transfer-Encoding: chunked\r\n\r\n" + b"%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n"):
        with server.raw(request_of(server, "6 * 7")) as c:
            assert b'"value":42' in web.read_until(c, b"timings")
            try:
                c.sendall(stranger + more)
            except OSError:
                pass
            answer = web.read_all(c)
        assert b'"value":42' not in answer
        assert b" 413 " in answer or b" 401 " in answer or not answer
    with server.raw(request_of(server, "6 * 7") + stranger + b"Content-Length: 2\r\n\r\n{}" + request_of(server, "6 * 7")) as c:
        c.settimeout(30)
        got = b""
        while got.count(b'"timings"') < 2:
            got += c.recv(65536)
        assert got.count(b'"value":42') == 2 and got.count(b"HTTP/1.1 401") == 1


@pytest.mark.parametrize("data", [
    b"POST /v1/run HTTP/1.1\r\nHost: localhost\r\n{auth}Content-Length: 17\r\n\r\n{body}",
    b"POST /v1/run HTTP/1.1\r\nHost: localhost\r\n{auth}X: a\r\n b\r\nContent-Length: 17\r\n\r\n{body}",
    b"POST /v1/run HTTP/1.1\nHost: localhost\n{auth}Content-Length: 17\n\n{body}",
    b"POST /v1/run HTTP/1.1\r\nHost: localhost\r\n{auth}X: a\nContent-Length: 17\r\n\r\n{body}",
    b"POST /v1/run HTTP/1.1\r\nHost: localhost\r\n{auth}X: a\rY: b\r\nContent-Length: 17\r\n\r\n{body}",
    b"POST /v1/run HTTP/1.1\r\nHost: localhost\r\n{auth}X: a\0b\r\nContent-Length: 17\r\n\r\n{body}",
    b"POST /v1/run HTTP/1.1\r\nHost: localhost\r\n{auth}Content-Length: 17\0\r\n\r\n{body}",
    b"POST /v1/run HTTP/1.1\r\nHost: localhost\r\n{auth}Transfer-Encoding: chunked\r\nContent-Length: 17\r\n\r\n{body}",
    b"POST /v1/run HTTP/1.1\r\nHost: localhost\r\n{auth}Content-Length: 17\r\nContent-Length: 17\r\n\r\n{body}",
    b"POST /v1/run HTTP/1.1\r\nHost: localhost\r\n{auth}Content-Length: 017 \r\nTransfer-Encoding: identity\r\n\r\n{body}",
    b"POST /" + b"x" * 9000 + b" HTTP/1.1\r\nHost: localhost\r\n{auth}Content-Length: 17\r\n\r\n{body}",
    b"POST /v1/run HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 200 + b"{auth}Content-Length: 17\r\n\r\n{body}",
    b"POST /v1/run HTTP/1.1\r\nHost: localhost\r\n{auth}Expect: more\r\nContent-Length: 17\r\n\r\n{body}",
], ids=["good", "obs-fold", "bare LF", "one bare LF", "bare CR", "NUL", "NUL in a length", "two codings", "two lengths",
        "identity", "long target", "many headers", "expect"])
def test_a_request_that_can_be_read_in_two_ways(server, data, request):
    """It is refused, and what follows it is not taken for another request."""
    body = b'{"code": "6 * 7"}'
    auth = f"Authorization: Bearer {server.token}\r\nContent-Type: application/json\r\n".encode()
    is_good = "good" in request.node.name
    answer = b""
    with server.raw() as c:
        try:
            c.sendall(data.replace(b"{auth}", auth).replace(b"{body}", body) +
                      server.head("GET", "/healthz", "Connection: close") + b"\r\n")
        except OSError:
            pass
        answer = web.read_all(c)
    assert answer.count(b"HTTP/1.1 ") == (2 if is_good else 1), answer
    assert (b'"value":42' in answer) == is_good
    assert is_good or web.status_of(answer) in (400, 414, 417, 431)


def test_a_client_that_waits_for_the_go_ahead_is_refused_without_it(server):
    head = b"POST /v1/run HTTP/1.1\r\nHost: localhost\r\nContent-Length: 17\r\nExpect: 100-continue\r\n\r\n"
    status, answer = server.says_raw(head)
    assert status == 401 and b"100 Continue" not in answer


# ---- streams belong to who asked ----

def test_nothing_is_resumed_for_another_client(server):
    """Neither the id of an event nor that of a session gets what another client was sent."""
    secret = "hidden-in-another-stream"
    code = f"import time\nfor i in range(25): print('{secret}', i, flush=True); time.sleep(0.1)"
    mine, theirs = server.initialize(), server.initialize()
    assert mine != theirs
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "execute_code", "arguments": {"code": code}, "_meta": {"progressToken": "p"}}}
    body = json.dumps(call).encode()
    with server.raw(server.head("POST", "/mcp", f"Mcp-Session-Id: {mine}", "Accept: application/json, text/event-stream",
                                f"Content-Length: {len(body)}") + b"\r\n" + body) as c:
        assert b"id:" not in web.read_until(c, b"data: ")  # no event has an id to resume at
        for session in (None, theirs, mine, mine[:-1] + ("0" if mine[-1] != "0" else "1"), "", mine.upper() + " "):
            for event in ("0", "1", "p", mine, "-1", "999999999"):
                more = {"Last-Event-ID": event, "Mcp-Session-Id": session, "Accept": "text/event-stream, application/json"}
                reply = server.get("/mcp", more)
                assert reply.status == 405 and secret.encode() not in reply.body
                reply = server.legacy("ping", id=77, session=session, headers=more)
                assert secret.encode() not in reply.body
                assert reply.status in (200, 404), (session, event, reply.body)
        assert server.request("DELETE", "/mcp", headers={"Mcp-Session-Id": theirs}).status == 204
        last = web.read_until(c, b'"result"')  # and its own stream went on meanwhile
        assert secret.encode() in last


def test_equal_numbers_of_two_clients_are_two_calls(server):
    """Each has the answer to its own question, whichever ends first."""
    sessions = [server.initialize() for _ in range(3)]
    with ExitStack() as stack:
        socks = []
        for i, session in enumerate(sessions):
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                "name": "execute_code", "arguments": {"code": f"import time; time.sleep({0.6 - i * 0.2}); 'mine-{i}'"}}}).encode()
            socks.append(stack.enter_context(server.raw(server.head(
                "POST", "/mcp", f"Mcp-Session-Id: {session}", "Connection: close", f"Content-Length: {len(body)}") + b"\r\n" + body)))
        # Another session cancels the same number: that is its own call, which there is not.
        assert server.legacy("notifications/cancelled", {"requestId": 1}, id=None, session=server.initialize()).status == 202
        for i, c in enumerate(socks):
            answer = web.read_all(c)
            assert f"mine-{i}".encode() in answer and answer.count(b"mine-") == answer.count(f"mine-{i}".encode())


# ---- what clients are told ----

@pytest.mark.parametrize("path, request_, status", [
    ("/v1/run", {"code": "x" * (2 << 20)}, 400),
    ("/v1/run", {"code": "1", "prelude": "x" * (2 << 20)}, 400),
    ("/v1/run", {"code": "1", "files": {f"f{i}": "" for i in range(5000)}}, 400),
    ("/v1/shell", {"command": "true", "shell": ["bash"] * 100}, 400),
    ("/v1/shell", {"command": "true", "deny": ["x"] * 10000}, 400),
    ("/v1/shell", {"command": "x" * 200_000}, 400),
    ("/v1/run", {"kind": "session", "op": "inspect", "session": "never-begun"}, 404),
    ("/v1/run", {"kind": "session", "op": "fork", "session": "../x", "into": "y"}, 404),
    ("/v1/run", {"code": "1", "session": "x" * 1000}, 400),
    ("/v1/run", {"code": "1", "timeout": -1}, 400),
    ("/v1/run", {"code": "1", "files": {"a": "x", "a/b": "y"}}, 400),
])
def test_a_bad_request_is_the_clients_fault(server, path, request_, status):
    reply = server.post(path, request_)
    assert reply.status == status, reply.body[:300]
    assert reply.json()["status"] == "failed" and reply.json()["error"]["message"]


def lose(path):
    os.rename(path, f"{path}.away")


@pytest.mark.parametrize("what, options", [
    ("mount", ["--mount", "{dir}/mount:data"]),
    ("audit", ["--audit", "{dir}/audit/log", "--audit-required"]),
    ("spill", ["--spill", "{dir}/spill"]),
    ("python/bin", ["--python", "{dir}/python/bin/python3"]),
])
def test_clients_are_not_told_where_things_lie(tmp_path, what, options):
    """Something of the host's goes away under a server. Its log says which file; no client hears of it."""
    for name in ("mount", "audit", "spill"):
        (tmp_path / name).mkdir()
    box.run_program("/usr/bin/python3", "-m", "venv", "--without-pip", tmp_path / "python")
    with web.Server(*(o.format(dir=tmp_path) for o in options)) as s:
        assert is_served(s)
        lose(tmp_path / what)
        replies = [s.run("print(6 * 7)\nimport os; os._exit(0)" if i else "print(42)") for i in range(2)]
        replies += [s.execute("print(6 * 7)"), s.modern("tools/list"), s.post("/v1/check", {"code": "1"})]
        for reply in replies:
            assert str(tmp_path).encode() not in reply.body, reply.body
        if any(reply.status == 500 for reply in replies):
            s.says(f"a request failed: .*{tmp_path}")
