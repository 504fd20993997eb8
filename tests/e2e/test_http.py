"""glovebox serve: what it answers."""
import json
import threading
import time

import pytest

import box
import web


@pytest.fixture(scope="module")
def server():
    with web.Server() as s:
        yield s


# The fixture of conftest.py looks for processes that a test left: this file's server stays.
@pytest.fixture(autouse=True)
def leaves_no_process():
    yield


# ---- plain JSON ----

def test_run_answers_with_the_result(server):
    reply = server.run("print('hello'); 6 * 7")
    result = reply.json()
    assert reply.status == 200 and reply.headers["Content-Type"] == "application/json"
    assert set(result) == box.RESULT_KEYS
    assert (result["status"], result["value"], result["stdout"]) == ("ok", 42, "hello\n")


@pytest.mark.parametrize("code, status", [
    ("1 / 0", "error"), ("1 +", "rejected"), ("import os; os.abort()", "crashed"),
])
def test_a_program_that_fails_was_served_well(server, code, status):
    reply = server.run(code)
    assert (reply.status, reply.json()["status"]) == (200, status)


def test_every_key_of_a_request_is_taken(server):
    result = server.post("/v1/run", {
        "id": "a1", "kind": "python", "code": "print(open('in.csv').read(), MODE, x + 1)",
        "timeout": 5, "inputs": {"x": 41, "MODE": "m"}, "files": {"in.csv": "a,b"},
        "limits": {"memory": "256M"}}).json()
    assert (result["id"], result["stdout"]) == ("a1", "a,b m 42\n")


def test_check_runs_nothing(server):
    assert server.post("/v1/check", {"code": "open('/x', 'w')"}).json()["status"] == "ok"
    result = server.post("/v1/check", {"code": "def f(:"}).json()
    assert result["status"] == "rejected" and result["findings"][0]["rule"] == "syntax"


def test_sessions_by_name(server):
    assert server.run("x = 5", session="web-1").json()["session"]["state"] == "new"
    assert server.run("x + 1", session="web-1").json()["value"] == 6
    closed = server.post("/v1/run", {"kind": "session", "op": "close", "session": "web-1"})
    assert closed.json()["status"] == "ok"
    assert server.run("'x' in globals()", session="web-1").json()["value"] is False


@pytest.mark.parametrize("body, part", [
    (b"", "not JSON"), (b"{", "not JSON"), (b"[1]", "not a JSON object"), (b"\xff\xfe", "not JSON"),
    (b'{"code": "1", "code": "2"}', "not JSON"), (b'{"code": "1", "kind": "check"}', "kind"),
    (b'{"code": "1", "cod": 1}', "cod"), (b'{"code": 1}', "code"), (b"{}", "code"),
    (b'{"code": "1", "timeout": 1e9}', "timeout"), (b'{"kind": 5}', "kind"),
    (b"[" * 100, "not JSON"), (b'{"code": "1", "inputs": {"x": 123456789012345678901234567890}}', "JSON"),
], ids=lambda value: str(value)[:40])
def test_a_request_that_is_none_is_refused_with_its_reason(server, body, part):
    reply = server.post("/v1/run", body)
    assert reply.status == 400, reply.body
    assert reply.json()["status"] == "failed" and part in reply.json()["error"]["message"]


def test_a_request_may_only_tighten(server):
    reply = server.run("1", isolation="none")
    assert (reply.status, reply.json()["status"]) == (400, "failed")
    assert "isolation" in reply.json()["error"]["message"]


def test_too_many_items_are_not_parsed(server):
    assert server.post("/v1/run", b'{"code": [' + b"1," * 300000 + b"1]}").status == 413
    deep = server.post("/v1/run", b'{"inputs": ' + b"[" * 200 + b"]" * 200 + b"}")
    assert deep.status == 413 and "deep" in deep.json()["error"]["message"]
    assert server.run("len([" + "1," * 250_000 + "])").json()["value"] == 250_000  # a program is one item


# ---- server-sent events ----

def test_output_as_it_comes(server):
    code = "import sys, time\nfor i in range(3): print(i, flush=True); time.sleep(0.05)\nsys.stderr.write('e')\n7"
    reply = server.post("/v1/run", {"code": code}, {"Accept": "text/event-stream"})
    assert reply.headers["Content-Type"] == "text/event-stream"
    found = web.events(reply.body)
    assert [name for name, _ in found][-1] == "result" and len(found) >= 4
    output = {"stdout": "", "stderr": ""}
    for name, value in found[:-1]:
        assert name == "output"
        output[value["stream"]] += value["text"]
    assert output == {"stdout": "0\n1\n2\n", "stderr": "e"}
    assert found[-1][1]["value"] == 7 and set(found[-1][1]) == box.RESULT_KEYS


def test_characters_are_not_torn(server):
    code = ("import os, time\nfor b in 'a€𝄞é'.encode(): os.write(1, bytes([b])); time.sleep(0.01)\n"
            "os.write(1, b'\\xe2\\x82')")
    reply = server.post("/v1/run", {"code": code}, {"Accept": "text/event-stream"})
    text = "".join(v["text"] for n, v in web.events(reply.body) if n == "output")
    assert text == "a€𝄞é\ufffd\ufffd" and web.events(reply.body)[-1][1]["stdout"] == text


def test_a_client_that_only_takes_anything_gets_json(server):
    reply = server.post("/v1/run", {"code": "1"}, {"Accept": "*/*"})
    assert reply.headers["Content-Type"] == "application/json"


def test_a_client_that_reads_slowly_gets_what_fits_and_the_result(server):
    code = "import sys\nfor i in range(400): sys.stdout.write('x' * 65536)\n'end'"
    body = json.dumps({"code": code}).encode()
    head = server.head("POST", "/v1/run", "Accept: text/event-stream", "Connection: close",
                       f"Content-Length: {len(body)}")
    with server.raw(head + b"\r\n" + body) as s:
        time.sleep(1.5)
        answer = web.read_all(s)
    assert b"event: result" in answer and b'"value":"end"' in answer
    # All of it went through the server, and not all of it waited there.
    assert b'"stdout_bytes":26214400' in answer and len(answer) < 24 << 20


# ---- MCP ----

def test_modern_calls_need_no_handshake(server):
    reply = server.execute("6 * 7")
    result = reply.json()["result"]
    assert reply.status == 200 and reply.headers["Content-Type"] == "application/json"
    assert result["resultType"] == "complete" and result["structuredContent"]["value"] == 42
    assert "Mcp-Session-Id" not in reply.headers


def test_progress_turns_the_answer_into_a_stream(server):
    reply = server.modern("tools/call", {"name": "execute_code", "arguments": {
        "code": "import time\nfor i in range(3): print(i, flush=True); time.sleep(0.2)"}},
        meta={"progressToken": "p"})
    assert reply.headers["Content-Type"] == "text/event-stream"
    assert reply.headers["X-Accel-Buffering"] == "no"
    messages = [value for _, value in web.events(reply.body)]
    assert {m.get("method") for m in messages[:-1]} == {"notifications/progress"}
    assert messages[-1]["result"]["structuredContent"]["stdout"] == "0\n1\n2\n"


def test_a_client_that_takes_no_stream_gets_none(server):
    reply = server.modern("tools/call", {"name": "execute_code", "arguments": {
        "code": "import time\nfor i in range(3): print(i, flush=True); time.sleep(0.2)"}},
        meta={"progressToken": "p"}, headers={"Accept": "application/json"})
    assert reply.headers["Content-Type"] == "application/json"
    assert reply.json()["result"]["structuredContent"]["stdout"] == "0\n1\n2\n"


@pytest.mark.parametrize("change, status, code", [
    (dict(headers={"MCP-Protocol-Version": None}), 400, -32020),
    (dict(headers={"MCP-Protocol-Version": "2025-11-25"}), 400, -32020),
    (dict(headers={"Mcp-Method": None}), 400, -32020),
    (dict(headers={"Mcp-Method": "tools/call"}), 400, -32020),
    (dict(headers={"Mcp-Method": "TOOLS/LIST"}), 400, -32020),
    (dict(headers={"MCP-Protocol-Version": "2027-01-01"},
          meta={"io.modelcontextprotocol/protocolVersion": "2027-01-01"}), 400, -32022),
    (dict(meta={"io.modelcontextprotocol/clientCapabilities": None}), 400, -32602),
    (dict(method="initialize"), 404, -32601),
    (dict(method="ping"), 404, -32601),
    (dict(method="no/such"), 404, -32601),
])
def test_modern_refusals(server, change, status, code):
    change = dict(change)
    reply = server.modern(change.pop("method", "tools/list"), id="x7", **change)
    answer = reply.json()
    assert (reply.status, answer["error"]["code"], answer["id"]) == (status, code, "x7")


def test_the_name_in_the_header_is_the_one_in_the_body(server):
    params = {"name": "execute_code", "arguments": {"code": "1"}}
    for name, status in (("execute_code", 200), (" execute_code ", 200), ("list_files", 400),
                         ("=?base64?ZXhlY3V0ZV9jb2Rl?=", 200), ("=?base64?!!?=", 400), (None, 400)):
        reply = server.modern("tools/call", params, headers={"Mcp-Name": name})
        assert reply.status == status, (name, reply.body)
    assert reply.json()["error"]["code"] == -32020


def test_the_handshake_gives_a_session(server):
    session = server.initialize()
    tools = server.legacy("tools/list", session=session).json()["result"]["tools"]
    assert "execute_code" in {t["name"] for t in tools}
    called = server.legacy("tools/call", {"name": "execute_code", "arguments": {"code": "1 + 1"}},
                           session=session).json()
    assert called["result"]["structuredContent"]["value"] == 2
    assert server.legacy("ping", session=session).json()["result"] == {}
    gone = server.request("DELETE", "/mcp", headers={"Mcp-Session-Id": session})
    assert gone.status == 204
    assert server.legacy("tools/list", session=session).status == 404


def test_a_legacy_client_without_a_session_is_served(server):
    reply = server.legacy("tools/call", {"name": "execute_code", "arguments": {"code": "3"}},
                          headers={"MCP-Protocol-Version": "2025-06-18"})
    assert reply.json()["result"]["structuredContent"]["value"] == 3
    assert server.legacy("notifications/initialized", id=None).status == 202
    assert server.legacy("tools/list", headers={"MCP-Protocol-Version": "1999-01-01"}).status == 400
    assert server.legacy("tools/list", session="nonsense").status == 404


def test_an_initialize_that_is_wrong_makes_no_session(server):
    before = server.metrics()["glovebox_mcp_sessions"]
    reply = server.legacy("initialize", {"protocolVersion": 5})
    assert reply.json()["error"]["code"] == -32602
    assert server.metrics()["glovebox_mcp_sessions"] == before


def test_a_legacy_client_that_takes_no_stream_cannot_be_asked():
    """And does not wait for a question that it would never see."""
    with web.Server("--approve", "always") as s:
        session = s.initialize({"elicitation": {}})
        reply = s.legacy("tools/call", {"name": "execute_code", "arguments": {"code": "1"}}, session=session,
                         headers={"Accept": "application/json"})
        result = reply.json()["result"]
        assert result["structuredContent"]["status"] == "rejected" and "cannot ask" in result["content"][0]["text"]


def test_a_legacy_call_is_cancelled_by_a_notification(server):
    session = server.initialize()
    thread = threading.Thread(target=server.legacy, args=("tools/call",), kwargs={
        "params": {"name": "execute_code", "arguments": {"code": web.SLEEP}}, "id": 77,
        "session": session})
    thread.start()
    assert box.until(lambda: server.running() == 1)
    assert server.legacy("notifications/cancelled", {"requestId": 77}, id=None,
                         session=session).status == 202
    thread.join(20)
    assert not thread.is_alive() and box.until(lambda: server.running() == 0)


def test_methods_that_mcp_has_not(server):
    for method in ("GET", "PUT", "PATCH", "HEAD", "TRACE"):
        assert server.request(method, "/mcp").status == 405, method
    assert server.request("DELETE", "/mcp").status == 405
    assert "POST" in server.request("GET", "/mcp").headers["Allow"]


@pytest.mark.parametrize("body, code", [
    (b"", -32700), (b"{", -32700), (b"\x00", -32700), (b"[]", -32600), (b"[1]", -32600),
    (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
    (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
    (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600),
    (b'{"jsonrpc": "2.0", "id": 1}', -32600), (b"[" * 100000, -32600),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": 5}', -32602),
], ids=lambda value: str(value)[:40])
def test_messages_that_are_none(server, body, code):
    reply = server.post("/mcp", body)
    assert (reply.status, reply.json()["error"]["code"]) == (400, code), reply.body


def test_responses_to_nobody(server):
    message = {"jsonrpc": "2.0", "id": 5, "result": {}}
    assert server.post("/mcp", message).status == 400
    assert server.post("/mcp", message, {"MCP-Protocol-Version": web.MODERN}).status == 400
    assert server.post("/mcp", message, {"Mcp-Session-Id": server.initialize()}).status == 202


def test_a_stream_of_changes_stays_open(server):
    body = json.dumps({"jsonrpc": "2.0", "id": 9, "method": "subscriptions/listen", "params": {
        "_meta": web.META, "notifications": {"toolsListChanged": True}}}).encode()
    head = server.head("POST", "/mcp", f"MCP-Protocol-Version: {web.MODERN}",
                       "Mcp-Method: subscriptions/listen", f"Content-Length: {len(body)}",
                       "Accept: application/json, text/event-stream")
    with server.raw(head + b"\r\n" + body) as s:
        answer = web.read_until(s, b"acknowledged")
        assert b"text/event-stream" in answer
        assert server.metrics()["glovebox_mcp_listening"] == 1
    assert box.until(lambda: server.metrics()["glovebox_mcp_listening"] == 0)


# ---- clients that leave ----

@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_leaves_takes_its_box_along(server, stream):
    body = json.dumps({"code": web.SLEEP}).encode()
    accept = "text/event-stream" if stream else "application/json"
    before = server.metrics()["glovebox_http_vanished_total"]
    with server.raw(server.head("POST", "/v1/run", f"Accept: {accept}",
                                f"Content-Length: {len(body)}") + b"\r\n" + body) as s:
        if stream:
            web.read_until(s, b"up")
        assert box.until(lambda: server.running() == 1)
    assert box.until(lambda: server.running() == 0)
    assert box.until(lambda: "sleep" not in str(box.descendants(server.process.pid)))
    assert server.metrics()["glovebox_http_vanished_total"] == before + 1


def test_a_modern_client_that_leaves_cancels(server):
    with server.raw_execute(web.SLEEP):
        assert box.until(lambda: server.running() == 1)
    assert box.until(lambda: server.running() == 0)


@pytest.mark.parametrize("has_session", [False, True])
def test_a_legacy_client_that_leaves_does_not(server, has_session):
    name = f"left-{has_session}"
    server.run("done = False", session=name)
    session = server.initialize() if has_session else None
    code = "import time; time.sleep(1.0)"
    body = json.dumps({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {
        "name": "execute_code", "arguments": {"code": code}}}).encode()
    more = [f"Mcp-Session-Id: {session}"] if session else []
    ok = server.metrics()['glovebox_runs_total{status="ok"}']
    with server.raw(server.head("POST", "/mcp", f"Content-Length: {len(body)}", *more) +
                    b"\r\n" + body):
        assert box.until(lambda: server.running() == 1)
    assert box.until(lambda: server.running() == 0)
    assert server.metrics()['glovebox_runs_total{status="ok"}'] == ok + 1
    assert server.metrics()["glovebox_mcp_calls"] == 0


def test_bytes_of_the_next_request_do_not_disturb_this_one(server):
    body = json.dumps({"code": "import time; time.sleep(0.3); 'first'"}).encode()
    first = server.head("POST", "/v1/run", f"Content-Length: {len(body)}") + b"\r\n" + body
    last = server.head("GET", "/healthz", "Connection: close") + b"\r\n"
    with server.raw(first) as s:
        time.sleep(0.1)
        for byte in range(0, len(last), 16):  # while the first one runs
            s.sendall(last[byte:byte + 16])
            time.sleep(0.005)
        answer = web.read_all(s)
    assert answer.count(b"HTTP/1.1 200") == 2 and answer.index(b"first") < answer.index(b'"ok"}')


def test_many_requests_in_one_piece(server):
    one = server.head("GET", "/healthz") + b"\r\n"
    with server.raw(one * 50 + server.head("GET", "/healthz", "Connection: close") + b"\r\n") as s:
        assert web.read_all(s).count(b"HTTP/1.1 200") == 51


# ---- the rest ----

def test_health_needs_no_token(server):
    reply = server.get("/healthz", {"Authorization": None})
    assert (reply.status, reply.json()) == (200, {"status": "ok"})


def test_metrics_are_prometheus_text(server):
    server.run("1 / 0")
    reply = server.get("/metrics")
    assert reply.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    names = set()
    for line in reply.body.decode().splitlines():
        if line.startswith("# TYPE "):
            names.add(line.split()[2])
        elif not line.startswith("#"):
            name, _, value = line.rpartition(" ")
            base = name.partition("{")[0]
            assert base in names or base.rpartition("_")[0] in names, line
            float(value)
    m = server.metrics()
    assert m['glovebox_runs_total{status="error"}'] >= 1
    assert m['glovebox_stage_seconds_count{stage="run"}'] >= 1
    assert m['glovebox_stage_seconds_bucket{stage="run",le="+Inf"}'] == \
        m['glovebox_stage_seconds_count{stage="run"}']
    assert {"glovebox_pool_waiting", "glovebox_sessions", "glovebox_runs_waiting"} <= set(m)


def test_limits_hit_are_counted(server):
    before = server.metrics()['glovebox_limits_hit_total{limit="timeout"}']
    assert server.run("while True: pass", timeout=0.2).json()["status"] == "timeout"
    assert server.metrics()['glovebox_limits_hit_total{limit="timeout"}'] == before + 1


def test_old_clients_are_served(server):
    token = f"Authorization: Bearer {server.token}\r\n".encode()
    with server.raw(b"GET /healthz HTTP/1.0\r\n\r\n") as s:
        assert web.read_all(s).endswith(b'{"status":"ok"}')
    body = b'{"code": "print(1)"}'
    with server.raw(b"POST /v1/run HTTP/1.0\r\nContent-Type: application/json\r\n" + token +
                    b"Accept: text/event-stream\r\nContent-Length: %d\r\n\r\n" % len(body) + body) as s:
        answer = web.read_all(s)
    assert b"chunked" not in answer and b"event: result" in answer


def test_chunked_requests_are_taken(server):
    body = b'{"code": "1 + 1"}'
    chunks = b"".join(b"%x\r\n%c\r\n" % (1, b) for b in body) + b"0\r\n\r\n"
    status, answer = server.says_raw(
        server.head("POST", "/v1/run", "Transfer-Encoding: chunked", "Connection: close") + b"\r\n" + chunks)
    assert status == 200 and b'"value":2' in answer


def test_a_client_that_waits_for_the_go_ahead_gets_it(server):
    body = b'{"code": "1 + 1"}'
    head = server.head("POST", "/v1/run", "Expect: 100-continue", "Connection: close",
                       f"Content-Length: {len(body)}") + b"\r\n"
    with server.raw(head) as s:
        assert b"100 Continue" in web.read_until(s, b"\r\n\r\n")
        s.sendall(body)
        assert b'"value":2' in web.read_all(s)


def test_shell(server):
    result = server.post("/v1/shell", {"command": "echo out; echo err >&2; exit 3"}).json()
    assert (result["status"], result["exit_code"], result["stdout"], result["stderr"]) == \
        ("error", 3, "out\n", "err\n")
    assert server.post("/v1/shell", {"code": "1"}).status == 400
    assert server.post("/v1/shell", {"command": "true", "kind": "python"}).status == 400
    found = web.events(server.post("/v1/shell", {"command": "echo a; sleep 0.1; echo b"},
                                   {"Accept": "text/event-stream"}).body)
    assert [n for n, _ in found][-1] == "result" and found[-1][1]["stdout"] == "a\nb\n"
