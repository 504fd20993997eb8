"""What clients send that they should not, and what they do that nobody expects."""
import json
import os
import signal
import subprocess
import threading
import time

import pytest

import box
import mcp
from mcp import META, Client, Legacy, Modern


@pytest.fixture(scope="module")
def client():
    with Legacy() as one:
        yield one


@pytest.fixture(autouse=True)
def leaves_no_process():
    """The client of this module stays."""


PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.mark.parametrize("line, code, id", [
    (b"{", -32700, None), (b"nonsense", -32700, None), (b"\xff\xfe", -32700, None), (b'{"a":1,"a":2}', -32700, None),
    (b"'x'", -32700, None), (b'{"jsonrpc":"2.0","id":1,"method":"ping"}}', -32700, None),
    (b'{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}', -32700, None),
    (b"null", -32600, None), (b"5", -32600, None), (b'"x"', -32600, None), (b"{}", -32600, None),
    (b"[]", -32600, None), (json.dumps([PING]).encode(), -32600, None),
    (json.dumps({**PING, "jsonrpc": "1.0"}).encode(), -32600, 1),
    (json.dumps({"id": 1, "method": "ping"}).encode(), -32600, 1),
    (json.dumps({**PING, "id": None}).encode(), -32600, None),
    (json.dumps({**PING, "id": 1.5}).encode(), -32600, None),
    (json.dumps({**PING, "id": [1]}).encode(), -32600, None),
    (json.dumps({**PING, "id": True}).encode(), -32600, None),
    (json.dumps({**PING, "id": "x" * 1025}).encode(), -32600, None),
    (json.dumps({**PING, "method": 5}).encode(), -32600, 1),
    (json.dumps({**PING, "method": ""}).encode(), -32600, 1),
    (json.dumps({**PING, "method": "ping\0"}).encode(), -32600, 1),
    (json.dumps({**PING, "method": "m" * 257}).encode(), -32600, 1),
    (json.dumps({**PING, "result": {}}).encode(), -32600, 1),
    (json.dumps({**PING, "params": []}).encode(), -32602, 1),
    (json.dumps({**PING, "params": None}).encode(), -32602, 1),
    (json.dumps({"jsonrpc": "2.0", "id": 1}).encode(), -32600, None),
    (json.dumps({"jsonrpc": "2.0", "id": 1, "result": {}, "error": {}}).encode(), -32600, None),
    (json.dumps({"jsonrpc": "2.0", "id": 1, "error": "no"}).encode(), -32600, None),
    (json.dumps({"jsonrpc": "2.0", "result": {}}).encode(), -32600, None),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"a":' * 200 + b"1" + b"}" * 200 + b"}", -32600, None),
    (b"[" * 100_000, -32600, None),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[' + b"1," * 250_000 + b"1]}}", -32600, None),
])
def test_what_is_no_message(client, line, code, id):
    client.send(line + b"\n")
    error = client.message()
    assert error["error"]["code"] == code and error["error"]["message"]
    assert error.get("id") == id and ("id" in error) == (id is not None)
    assert client.ask("ping")["result"] == {}


@pytest.mark.parametrize("id", [0, -1, 2**62, "", "x", "ü\0\"\\", "x" * 1024])
def test_ids_come_back_as_they_were(client, id):
    assert client.ask("ping", id=id)["id"] == id


def test_a_string_is_not_the_number_that_it_looks_like(client):
    params = {"name": "execute_code", "arguments": {"code": "import time; time.sleep(0.3); 1"}}
    client.start("tools/call", params, id="77")
    client.notify("notifications/cancelled", {"requestId": 77})
    assert client.answer("77")["result"]["structuredContent"]["value"] == 1


def test_an_id_that_is_in_use(client):
    params = {"name": "execute_code", "arguments": {"code": "import time; time.sleep(0.4); 1"}}
    client.start("tools/call", params, id="twice")
    assert client.ask("tools/call", params, id="twice")["error"]["code"] == -32600
    assert client.answer("twice")["result"]["structuredContent"]["value"] == 1


def test_blank_lines_and_carriage_returns(client):
    client.send(b"\n\r\n  \t\n" + json.dumps(PING).encode() + b"\r\n")
    assert client.message()["result"] == {}


def test_a_message_in_pieces(client):
    for byte in json.dumps(PING).encode() + b"\n":
        client.write(bytes([byte]))
    assert client.message()["result"] == {}


def test_unknown_methods_and_notifications(client):
    for method in ("nope", "tools/nope", "initialized", "server/discover", "subscriptions/listen", "PING", "tasks/get"):
        assert client.ask(method)["error"]["code"] == -32601, method
        client.notify(method)
        client.notify("notifications/" + method, {"x": 1})
    assert client.ask("ping")["result"] == {}


def test_calls_of_what_there_is_not(client):
    for params in ({"name": "nope"}, {"name": 5}, {}, {"name": "execute_code\0"}, {"name": "execute_code", "arguments": []},
                   {"name": "execute_code", "arguments": None}):
        assert client.ask("tools/call", params)["error"]["code"] == -32602, params


def test_a_handshake_that_is_none():
    with Client() as client:
        for params in (None, {}, {"protocolVersion": 5, "capabilities": {}}, {"protocolVersion": mcp.LEGACY},
                       {"protocolVersion": mcp.LEGACY, "capabilities": []}):
            assert client.ask("initialize", params)["error"]["code"] == -32602
        assert client.ask("tools/list")["error"]["code"] == -32602
        assert client.initialize()["protocolVersion"] == mcp.LEGACY


def test_modern_requests_that_say_too_little():
    with Modern() as client:
        whole = mcp.meta()
        for missing in ("protocolVersion", "clientCapabilities"):
            short = {k: v for k, v in whole.items() if k != META + missing}
            error = client.ask("server/discover", {"_meta": short})["error"]
            assert error["code"] == -32602, missing
        for meta in ({**whole, META + "clientCapabilities": None}, {**whole, META + "clientCapabilities": []},
                     {**whole, META + "protocolVersion": 5}, {**whole, "progressToken": {}}):
            assert client.ask("server/discover", {"_meta": meta})["error"]["code"] == -32602
        for params in (None, {}, {"_meta": None}, {"_meta": []}, {"_meta": {}}):
            assert client.ask("server/discover", params)["error"]["code"] == -32602
        without_info = {k: v for k, v in whole.items() if "clientInfo" not in k}
        assert "result" in client.ask("server/discover", {"_meta": without_info})


def test_modern_versions_that_there_are_not():
    with Modern() as client:
        for version in ("1999-01-01", "2025-11-25", "2027-01-01", "v999", "", "draft"):
            error = client.ask("tools/list", {"_meta": mcp.meta(version=version)})["error"]
            assert error["code"] == -32022
            assert error["data"] == {"supported": [mcp.MODERN], "requested": version}


def test_methods_that_the_modern_era_has_not():
    with Modern() as client:
        for method in ("initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe",
                       "notifications/initialized", "prompts/list", "sampling/createMessage"):
            assert client.request(method)["error"]["code"] == -32601, method


# ---- too much ----

def test_a_line_that_is_too_long_is_skipped(client):
    client.write(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"')
    for _ in range(40):
        client.write(b"x" * (1 << 20))
    client.write(b'"}}\n')
    error = client.message()
    assert error["error"]["code"] == -32600 and "8 MiB" in error["error"]["message"]
    assert client.ask("ping")["result"] == {}


def test_long_lines_cost_no_memory():
    with Legacy() as client:
        before = resident(client)
        for _ in range(100):
            client.write(b"x" * (1 << 20))
        assert client.message()["error"]["code"] == -32600
        assert resident(client) - before < 32 << 20


def resident(client):
    with open(f"/proc/{client.process.pid}/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_more_calls_at_once_than_are_taken():
    with Legacy("-j", "1") as client:
        call = {"name": "execute_code", "arguments": {"code": "import time; time.sleep(60)"}}
        for _ in range(1024):
            client.start("tools/call", call)
        error = client.ask("tools/call", call)["error"]
        assert error["code"] == -32603 and "busy" in error["message"]
        assert client.ask("ping")["error"]["code"] == -32603
        client.notify("notifications/cancelled", {"requestId": 500})
        assert client.ask("ping")["result"] == {}
        status, rest, seconds = client.end()
        assert (status, rest) == (0, b"") and seconds < 5


def test_a_client_that_does_not_read():
    """It is read from no more, its answers wait, and nothing is lost."""
    with Legacy() as client:
        before, stdin = resident(client), client.process.stdin
        ping = json.dumps({**PING, "id": "x" * 1000}).encode() + b"\n"
        os.set_blocking(stdin.fileno(), False)
        sent, stuck = 0, 0
        while sent < 100 << 20 and stuck < 50:
            n = stdin.write((ping * 17)[sent % len(ping):])
            sent, stuck = sent + (n or 0), 0 if n else stuck + 1
            time.sleep(0 if n else 0.02)
        assert stuck == 50, "it went on reading"
        assert resident(client) - before < 64 << 20
        assert busy_seconds(client, 1) < 0.5, "it does not wait, it turns"
        rest = ping[sent % len(ping):] if sent % len(ping) else b""
        for i in range((sent + len(rest)) // len(ping)):
            rest = rest[stdin.write(rest) or 0:] if rest else b""
            assert client.message()["result"] == {}


def busy_seconds(client, seconds):
    """How much of so much time the server computes."""
    def used():
        words = open(f"/proc/{client.process.pid}/stat").read().rpartition(")")[2].split()
        return sum(map(int, words[11:13])) / os.sysconf("SC_CLK_TCK")
    before = used()
    time.sleep(seconds)
    return used() - before


def test_a_client_that_is_faster_than_its_answers():
    """What it sends is left in its pipe, and not heaped up here."""
    n, ping = 200_000, json.dumps(PING).encode() + b"\n"
    with Legacy() as client:
        before = resident(client)
        writer = threading.Thread(target=client.write, args=(ping * n,))
        writer.start()
        most = got = 0
        while got < n:
            piece = os.read(client.process.stdout.fileno(), 1 << 16)
            assert piece, "it ended"
            got += piece.count(b"\n")
            most = max(most, resident(client) - before)
        writer.join()
        assert most < (64 << 20 if box.SANITIZED else 4 << 20)


def test_every_line_before_the_end_counts(tmp_path):
    lines = [json.dumps({"jsonrpc": "2.0", "id": i, "method": "ping"}) for i in range(5000)]
    (tmp_path / "in").write_text("\n".join(lines) + "\n")
    with open(tmp_path / "in") as f:
        done = subprocess.run([box.GLOVEBOX, "mcp"], stdin=f, capture_output=True, text=True, env=box.ENV, timeout=60)
    assert done.returncode == 0
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == list(range(5000))


# ---- ends ----

def endless(client):
    id = client.begin("tools/call", {"name": "execute_code", "arguments": {
        "code": "import os, time\nif os.fork() == 0:\n os.setsid()\n time.sleep(60)\nprint('on', flush=True)\ntime.sleep(60)"}},
        {"progressToken": 1})
    assert client.message()["params"]["message"]
    return id


@pytest.mark.parametrize("kind", [Legacy, Modern])
def test_a_client_that_vanishes_mid_run(kind):
    with kind() as client:
        endless(client)
        status, rest, seconds = client.end()
        assert status == 0 and rest == b""
        assert seconds < (5 if box.SANITIZED else 1)
    assert box.until(lambda: not box.descendants(client.process.pid))


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals(sig):
    with Legacy() as client:
        endless(client)
        began = time.monotonic()
        client.process.send_signal(sig)
        assert client.process.wait(20) == 128 + sig
        assert time.monotonic() - began < (5 if box.SANITIZED else 1.5)


def test_what_is_nearly_done_when_the_input_ends_is_answered():
    with Legacy() as client:
        client.call("execute_code", code="1")  # an interpreter is there, and a box is made ahead
        id = client.start("tools/call", {"name": "execute_code", "arguments": {"code": "41 + 1"}})
        status, rest, _ = client.end()
        assert status == 0 and json.loads(rest)["id"] == id


def test_a_reader_that_is_gone():
    with Legacy() as client:
        client.process.stdout.close()
        try:
            for _ in range(3):
                client.start("ping")
                time.sleep(0.05)
        except BrokenPipeError:
            pass
        assert client.process.wait(20) == 0


def test_killed_at_the_worst_moment_leaves_nothing():
    with Legacy() as client:
        endless(client)
        below = set(box.descendants(client.process.pid))
        client.process.kill()
        client.process.wait()
    assert below and box.until(lambda: not below & set(box.descendants()), 5)


def descriptors(client):
    """Only root may look: the server cannot be looked into by others of its user."""
    return len(os.listdir(f"/proc/{client.process.pid}/fd")) if os.geteuid() == 0 else 0


def test_runs_and_pings_leave_no_memory():
    with Legacy() as client:
        def runs(n):
            for i in range(0, n, 50):
                ids = [client.start("tools/call", {"name": "execute_code", "arguments": {
                    "code": "open('a', 'w').write('x' * 5000); 'y' * 1000"}}) for _ in range(50)]
                got = {client.message()["id"] for _ in ids}
                assert got == set(ids)
        runs(300)
        before, fds = resident(client), descriptors(client)
        runs(300)
        for _ in range(2000):
            client.ask("ping")
        # 300 kept files of 5 KB each are 1.7 MB
        assert resident(client) - before < (64 << 20 if box.SANITIZED else 12 << 20)
        assert descriptors(client) <= fds + 8
