"""`glovebox mcp`, as clients of both eras see it."""
import json
import subprocess
import time

import pytest

import box
import mcp
from mcp import META, Client, Legacy, Modern

PNG = ("import base64\nclass Picture:\n def _repr_png_(self):\n  return base64.b64decode("
       "'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==')\n"
       "display(Picture())\n")


@pytest.fixture(params=[Legacy, Modern], ids=["legacy", "modern"])
def client(request):
    with request.param() as one:
        yield one


def texts(result):
    return [block["text"] for block in result["content"] if block["type"] == "text"]


# ---- the handshake, and doing without ----

@pytest.mark.parametrize("asked, given", [("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"),
                                          ("2025-03-26", "2025-03-26"), ("2024-11-05", "2024-11-05"),
                                          ("1999-01-01", "2025-11-25"), (mcp.MODERN, "2025-11-25")])
def test_versions_of_the_handshake(asked, given):
    with Client() as client:
        hello = client.initialize(version=asked)
        assert hello["protocolVersion"] == given
        assert hello["serverInfo"]["name"] == "glovebox" and hello["serverInfo"]["version"]
        assert {"tools", "resources", "logging", "completions"} <= set(hello["capabilities"])
        assert "prompts" not in hello["capabilities"]
        assert client.ask("ping")["result"] == {}


def test_the_handshake_is_answered_before_anything_is_warm(tmp_path):
    """An interpreter that takes its time is nothing that the handshake waits for."""
    slow = tmp_path / "python3"
    slow.write_text(f"#!/bin/sh\nwhile [ ! -e {tmp_path}/go ]; do sleep 0.1; done\nexec {box.PYTHON} \"$@\"\n")
    slow.chmod(0o755)
    with Client("--python", slow) as client:
        assert client.ask("server/discover", {"_meta": mcp.meta()})["result"]["capabilities"]["tools"]
        client.initialize()
        (tmp_path / "go").touch()


def test_where_nothing_can_run_it_is_said_at_the_start_and_to_each_call(without):
    command = [*without("namespaces", "landlock"), box.GLOVEBOX, "mcp"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=box.ENV)
    assert (done.returncode, done.stdout) == (125, "")
    said, hint = done.stderr.splitlines()
    assert said.startswith("glovebox: no program can run here: this kernel offers Landlock ABI 0") and "doctor" in hint
    with Legacy(command=command) as client:
        assert [t["name"] for t in client.ask("tools/list")["result"]["tools"]][0] == "execute_code"
        for _ in range(2):
            text = texts(client.call("execute_code", code="1"))[0]
            assert "no_isolation: this kernel offers" in text and "hint: 'glovebox doctor' says" in text
        status, _, _ = client.end()
        assert status == 0 and client.process.stderr.read().count(b"no program can run here") == 1


@pytest.mark.parametrize("options, status, why", [
    (["--python", "/nope"], 125, "no such interpreter: /nope (--python takes"),
    (["--mcp", "nope.json"], 125, "--mcp: cannot read 'nope.json': No such file or directory"),
])
def test_what_is_set_up_wrongly_is_said_to_clients(options, status, why):
    with Legacy(*options) as client:
        for _ in range(2):
            error = client.ask("tools/list")["error"]
            assert error["code"] == -32603 and f"glovebox cannot run anything: {why}" in error["message"]
        assert client.ask("ping")["result"] == {}
        assert client.end()[0] == status and why.split(" (")[0].encode() in client.process.stderr.read()


def test_output_that_cannot_be_written():
    hello = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
    with open("/dev/full", "w") as full:
        done = subprocess.run([box.GLOVEBOX, "mcp"], input=hello, stdout=full, stderr=subprocess.PIPE, text=True, env=box.ENV)
    assert (done.returncode, done.stderr) == (125, "glovebox: writing to standard output: No space left on device\n")


def test_ping_needs_no_handshake_and_everything_else_does():
    with Client() as client:
        assert client.ask("ping")["result"] == {}
        error = client.ask("tools/list")["error"]
        assert error["code"] == -32602 and "initialize" in error["message"]


def test_discover():
    with Modern() as client:
        result = client.request("server/discover")["result"]
        assert result["supportedVersions"] == [mcp.MODERN]
        assert result["resultType"] == "complete" and result["cacheScope"] == "private"
        assert result["ttlMs"] >= 0 and "tools" in result["capabilities"]
        assert result["_meta"][META + "serverInfo"]["name"] == "glovebox"


def test_both_eras_on_one_connection():
    with Legacy() as client:
        assert client.call("execute_code", code="1")["structuredContent"]["value"] == 1
        modern = client.ask("tools/call", {"name": "execute_code", "arguments": {"code": "2"},
                                           "_meta": mcp.meta()})["result"]
        assert modern["resultType"] == "complete" and modern["structuredContent"]["value"] == 2
        legacy = client.call("execute_code", code="3")
        assert legacy["structuredContent"]["value"] == 3 and "resultType" not in legacy


def test_a_list_is_the_same_in_both_eras_and_every_tool_is_described(client):
    result = client.request("tools/list")["result"]
    names = [tool["name"] for tool in result["tools"]]
    assert names[0] == "execute_code" and len(set(names)) == len(names)
    assert "nextCursor" not in result
    for tool in result["tools"]:
        assert tool["title"] and tool["description"] and tool["inputSchema"]["type"] == "object"
        assert set(tool["annotations"]) == {"title", "readOnlyHint", "destructiveHint",
                                            "idempotentHint", "openWorldHint"}
        for word in tool["inputSchema"]["properties"].values():
            assert word["description"]
    if client.era == "modern":
        assert result["ttlMs"] > 0 and result["cacheScope"] == "private"
    else:
        assert "ttlMs" not in result and "resultType" not in result


@pytest.mark.parametrize("options, is_open", [((), False), (("--mount", "{}:d"), False), (("--mount", "{}:d:rw"), True),
                                              (("--network", "host"), True), (("--tool", "now=date"), True)])
def test_annotations_tell_what_programs_can_reach(tmp_path, options, is_open):
    with Modern(*(o.format(tmp_path) for o in options)) as client:
        tools = {t["name"]: t["annotations"] for t in client.request("tools/list")["result"]["tools"]}
    for name in ("execute_code", "run_shell"):
        assert (tools[name]["destructiveHint"], tools[name]["openWorldHint"]) == (is_open, is_open), name
    assert tools["write_file"]["destructiveHint"] and not tools["write_file"]["openWorldHint"]
    assert not tools["read_file"]["destructiveHint"]


def test_cursors(client):
    assert client.request("tools/list", {"cursor": ""})["result"]["tools"]
    for cursor in ("p0", "p99", "p-1", "p1x", "x", 1, None):
        assert client.request("tools/list", {"cursor": cursor})["error"]["code"] == -32602, cursor


def test_empty_lists(client):
    assert client.request("resources/list")["result"]["resources"] == []
    templates = client.request("resources/templates/list")["result"]["resourceTemplates"]
    assert [t["uriTemplate"] for t in templates] == ["glovebox://file/{id}/{+path}"]
    assert client.request("prompts/list")["error"]["code"] == -32601


# ---- running ----

def test_a_program_that_works(client):
    result = client.call("execute_code", code="import sys\nprint('out')\nprint('err', file=sys.stderr)\n[1, 'x']")
    assert result["isError"] is False
    assert texts(result) == ['out\nstderr:\nerr\nvalue: [1,"x"]']
    structured = result["structuredContent"]
    assert (structured["status"], structured["stdout"], structured["value"]) == ("ok", "out\n", [1, "x"])


def test_a_model_is_spared_what_is_for_operators(client):
    """Several clients hand all of structuredContent to their model. Both halves are the result."""
    result = client.call("execute_code", code="print(42)")
    structured, apart = result["structuredContent"], result["_meta"]["glovebox/result"]
    assert structured == {"status": "ok", "exit_code": 0, "stdout": "42\n", "stdout_truncated": False,
                          "stderr_truncated": False, "has_value": True}
    assert set(apart) == {"isolation", "policy", "risk", "usage", "timings", "stdout_bytes", "stderr_bytes"}
    whole = box.run_json("print(42)")
    empty = {k for k in whole if whole[k] in (None, "", [], {})}
    assert set(structured) | set(apart) | empty == set(whole)
    for code, value in (("''", ""), ("[]", []), ("{}", {})):
        structured = client.call("execute_code", code=code)["structuredContent"]
        assert (structured["has_value"], structured["value"]) == (True, value)
    assert "value" not in client.call("execute_code", code="None")["structuredContent"]


def test_arguments_that_frameworks_fill_in(client):
    """null and "" for what the model left out; session_id where "session" is the framework's own."""
    for absent in (None, ""):
        result = client.call("execute_code", code="1", session=absent, timeout=absent, inputs=absent)
        assert result["isError"] is False and "session" not in result["structuredContent"]
    begun = client.call("execute_code", code="x = 5", session_id="new")["structuredContent"]["session"]["name"]
    assert client.call("execute_code", code="x", session_id=begun)["structuredContent"]["value"] == 5
    assert client.call("write_file", session=begun, path="a", text="")["content"][0]["text"].startswith("done")
    assert client.call("read_file", session=begun, path="a", offset=None)["content"][0]["text"] == "(empty)"


def test_nothing_to_say(client):
    assert texts(client.call("execute_code", code="x = 1")) == ["(no output)"]


@pytest.mark.parametrize("code, status, words", [
    ("print('a')\n1/0", "error", ["a", "ZeroDivisionError", "line 2", "status: error (exit code 1)"]),
    ("x = = 1", "rejected", ["(syntax, line 1, column 5): invalid syntax\nhelp: correct this", "status: rejected"]),
    ("while True: pass", "timeout", ["status: timeout"]),
    ("x = bytearray(600 << 20)\nwhile True: pass", "limit", ["status: limit (memory)"]),
    ("import os; os.kill(os.getpid(), 11)", "crashed", ["status: crashed"]),
    ("raise SystemExit(3)", "error", ["exit code 3"]),
])
def test_a_program_that_does_not(client, code, status, words):
    result = client.call("execute_code", code=code, timeout=1 if status == "timeout" else 25)
    assert result["isError"] is True and result["structuredContent"]["status"] == status
    for word in words:
        assert word in texts(result)[0]


def test_inputs_and_what_was_cut(client):
    result = client.call("execute_code", code="print('x' * n)", inputs={"n": 200_000})
    assert result["structuredContent"]["stdout_truncated"] is True
    assert "stdout was cut: it had 200001 bytes" in texts(result)[0]
    assert client.call("execute_code", code="n", inputs={"n": [None, 1.5]})["structuredContent"]["value"] == [None, 1.5]


def test_more_time_than_is_configured_is_not_given():
    with Legacy("--timeout", "0.5") as client:
        began = time.monotonic()
        assert client.call("execute_code", code="while True: pass", timeout=20)["structuredContent"]["status"] == "timeout"
        assert time.monotonic() - began < 10
    with Legacy("--timeout", "0.2", "--allow-request", "timeout") as client:
        assert client.call("execute_code", code="import time; time.sleep(0.5); 1", timeout=20)["structuredContent"]["value"] == 1


@pytest.mark.parametrize("arguments, word", [
    ({}, "code"), ({"code": 1}, "code"), ({"code": "1", "timeout": 0}, "timeout"),
    ({"code": "1", "inputs": []}, "inputs"), ({"code": "1", "extra": 1}, "extra"),
    ({"code": "1", "session": "sess-guessed"}, "session"),
])
def test_wrong_arguments_are_for_the_model_to_repair(client, arguments, word):
    result = client.call("execute_code", **arguments)
    assert result["isError"] is True and word in texts(result)[0]


def test_arguments_may_be_left_out(client):
    result = client.request("tools/call", {"name": "execute_code"})["result"]
    assert result["isError"] is True and "code" in texts(result)[0]


def test_pictures_and_text_that_is_displayed(client):
    result = client.call("execute_code", code=PNG + "display('plain')")
    kinds = [block["type"] for block in result["content"]]
    assert kinds == ["text", "image"] and "plain" in texts(result)[0]
    assert result["content"][1]["mimeType"] == "image/png" and result["content"][1]["data"].startswith("iVBOR")
    shown = result["structuredContent"]["outputs"][0]
    assert set(shown) == {"mime", "uri"} and shown["mime"] == "image/png"
    read = client.request("resources/read", {"uri": shown["uri"]})["result"]["contents"][0]
    assert read["blob"] == result["content"][1]["data"]


FRAME = """class Frame:
    def _repr_html_(self): return "<table>" + "<tr>" * 2000 + "</table>"
    def __repr__(self): return "   a  b\\n0  1  2"
"""


@pytest.mark.parametrize("code, text", [
    ("display(Frame())", "   a  b\n0  1  2"), ("Frame()", "   a  b\n0  1  2"),
    ("print('before'); display(Frame()); [1]", "before\n   a  b\n0  1  2\nvalue: [1]"),
    ("display('a'); display({'b': 1})", "'a'\n{'b': 1}"),
])
def test_the_text_has_what_was_displayed(client, code, text):
    result = client.call("execute_code", code=FRAME + code)
    assert texts(result)[0].startswith(text) and "(no output)" not in str(result)
    assert "<tr>" not in str(result)  # a link leads to it


def test_many_files_are_a_few_blocks(client):
    result = client.call("execute_code", code="for i in range(300): open(f'f{i}.txt', 'w').write('x')")
    assert len(result["content"]) < 30 and len(result["structuredContent"]["files"]) == 300


def test_a_file_is_read_by_its_link_and_in_pages(client):
    """Models are not offered resources/read; read_file is a tool."""
    text = "".join(f"{i} \u00e4\n" for i in range(6000))
    code = f"open('a.txt', 'w').write({text!r}); open('b.bin', 'wb').write(bytes(range(256)) * 100)"
    files = {f["path"]: f["uri"] for f in client.call("execute_code", code=code)["structuredContent"]["files"]}
    pages, at = [], 0
    while at < len(text.encode()):
        page = client.call("read_file", path=files["a.txt"], offset=at)["structuredContent"]
        assert 0 < page["length"] <= 16 << 10
        pages.append(page["text"])
        at += page["length"]
    assert "".join(pages) == text and len(pages) == 3
    part = client.call("read_file", path=files["b.bin"], offset=250, length=5)["structuredContent"]
    assert part["base64"] == "+vv8/f4=" and part["bytes"] == 25600
    for path in (files["a.txt"] + "x", "glovebox://file/x/y"):
        result = client.call("read_file", path=path)
        assert result["isError"] is True and "run the program again" in texts(result)[0]
    assert "needs the session" in texts(client.call("read_file", path="a.txt"))[0]


def test_files_small_ones_inline_larger_ones_to_be_read(client):
    result = client.call("execute_code", code="open('small.txt', 'w').write('hello')\n"
                         "open('large.csv', 'w').write('a,b\\n' * 5000)\n"
                         "open('b.bin', 'wb').write(bytes(range(256)))\n"
                         "import os; os.mkdir('d ü'); open('d ü/x.json', 'w').write('{}' * 4000)")
    blocks = {b.get("name", "") or b.get("resource", {}).get("uri", "").rpartition("/")[2]: b
              for b in result["content"][1:]}
    assert blocks["small.txt"]["resource"]["text"] == "hello"
    assert blocks["large.csv"]["type"] == "resource_link" and blocks["large.csv"]["size"] == 20_000
    assert blocks["large.csv"]["mimeType"] == "text/csv"
    assert "file: large.csv (created, 20000 bytes)" in texts(result)[0]
    files = {f["path"]: f for f in result["structuredContent"]["files"]}
    assert set(files) == {"small.txt", "large.csv", "b.bin", "d ü/x.json"}
    assert not any("text" in f or "base64" in f for f in files.values())

    def read(path):
        return client.request("resources/read", {"uri": files[path]["uri"]})["result"]["contents"][0]
    assert read("large.csv")["text"] == "a,b\n" * 5000
    assert read("small.txt")["text"] == "hello"
    assert read("d ü/x.json")["mimeType"] == "application/json"
    import base64
    assert base64.b64decode(read("b.bin")["blob"]) == bytes(range(256))


def test_a_resource_that_is_not_there(client):
    for uri in ("glovebox://file/" + "0" * 24 + "/a.txt", "glovebox://file/x", "file:///etc/passwd", ""):
        error = client.request("resources/read", {"uri": uri})["error"]
        assert error["code"] == (-32602 if client.era == "modern" else -32002)
        assert error["data"] == {"uri": uri}
    assert client.request("resources/read")["error"]["code"] == -32602


def test_completion_of_kept_files(client):
    ref = {"type": "ref/resource", "uri": "glovebox://file/{id}/{+path}"}
    complete = {"ref": ref, "argument": {"name": "id", "value": ""}}
    assert client.request("completion/complete", complete)["result"]["completion"]["values"] == []
    client.call("execute_code", code="open('a.txt', 'w').write('x')")
    [id] = client.request("completion/complete", complete)["result"]["completion"]["values"]
    path = {"ref": ref, "argument": {"name": "path", "value": "a"}, "context": {"arguments": {"id": id}}}
    assert client.request("completion/complete", path)["result"]["completion"]["values"] == ["a.txt"]
    for bad in ({}, {"ref": ref}, {"ref": {"type": "x"}, "argument": {"name": "a", "value": ""}},
                {"ref": ref, "argument": {"name": 1, "value": ""}}):
        assert client.request("completion/complete", bad)["error"]["code"] == -32602


# ---- progress, logging, cancelling ----

def test_output_is_told_as_progress(client):
    code = "import time\nfor i in range(5):\n print('step', i, flush=True)\n time.sleep(0.15)"
    result = client.call("execute_code", meta={"progressToken": "t"}, code=code)
    told = [m["params"] for m in client.seen if m["method"] == "notifications/progress"]
    assert result["isError"] is False and 2 <= len(told) <= 6
    assert all(p["progressToken"] == "t" for p in told)
    amounts = [p["progress"] for p in told]
    assert amounts == sorted(set(amounts))
    assert "step 0" in told[0]["message"] and any("step 3" in p["message"] for p in told)


def test_progress_is_told_now_and_then_and_only_where_it_was_asked_for(client):
    code = "for i in range(20000):\n print(i, flush=True)"
    client.call("execute_code", code=code)
    assert client.seen == []
    began = time.monotonic()
    client.call("execute_code", meta={"progressToken": 7}, code=code)
    assert len(client.seen) <= 3 + (time.monotonic() - began) * 10.5
    assert client.request("tools/call", {"name": "execute_code", "arguments": {"code": "1"}},
                          {"progressToken": [1]})["error"]["code"] == -32602


def sleeps(client):
    return [name for name in box.descendants(client.process.pid).values() if name == "sleep"]


def test_cancelling_kills_the_box_and_nothing_is_sent(client):
    id = client.begin("tools/call", {"name": "execute_code", "arguments": {
        "code": "import subprocess\np = subprocess.Popen(['sleep', '60'])\nprint('on', flush=True)\np.wait()"}},
        {"progressToken": 1})
    assert "on" in client.message()["params"]["message"]
    assert sleeps(client)
    client.notify("notifications/cancelled", {"requestId": id, "reason": "enough"})
    assert box.until(lambda: not sleeps(client))
    assert client.is_quiet()
    for wrong in ({"requestId": 999}, {"requestId": None}, {}, {"requestId": [id]}):
        client.notify("notifications/cancelled", wrong)
    assert client.call("execute_code", code="6")["structuredContent"]["value"] == 6


def test_cancelling_what_waits_for_its_turn():
    with Legacy("-j", "1") as client:
        first = client.begin("tools/call", {"name": "execute_code", "arguments": {"code": "import time; time.sleep(0.6); 1"}})
        second = client.begin("tools/call", {"name": "execute_code", "arguments": {"code": "2"}})
        third = client.begin("tools/call", {"name": "execute_code", "arguments": {"code": "3"}})
        client.notify("notifications/cancelled", {"requestId": second})
        assert client.answer(first)["result"]["structuredContent"]["value"] == 1
        assert client.answer(third)["result"]["structuredContent"]["value"] == 3
        assert client.seen == []


def test_calls_run_side_by_side_and_are_answered_as_they_end(client):
    slow = client.begin("tools/call", {"name": "execute_code", "arguments": {"code": "import time; time.sleep(1)"}})
    quick = client.begin("tools/call", {"name": "execute_code", "arguments": {"code": "1"}})
    assert client.message()["id"] == quick
    assert client.message()["id"] == slow


def test_log_levels():
    with Legacy() as client:
        client.call("execute_code", code="1")
        assert client.seen == []
        assert client.ask("logging/setLevel", {"level": "info"})["result"] == {}
        client.call("execute_code", code="1")
        [told] = client.seen
        assert told["method"] == "notifications/message" and told["params"]["level"] == "info"
        assert told["params"]["data"]["status"] == "ok"
        for wrong in ({"level": "loud"}, {"level": 1}, {}):
            assert client.ask("logging/setLevel", wrong)["error"]["code"] == -32602
    with Modern() as client:
        client.call("execute_code", code="1")
        assert client.seen == []
        client.call("execute_code", meta={META + "logLevel": "debug"}, code="1")
        assert [m["method"] for m in client.seen] == ["notifications/message"]
        assert client.request("tools/list", None, {META + "logLevel": "loud"})["error"]["code"] == -32602


# ---- subscriptions ----

def test_listening():
    with Modern() as client:
        id = client.begin("subscriptions/listen", {"notifications": {
            "toolsListChanged": True, "promptsListChanged": True, "resourceSubscriptions": ["a://b"]}})
        told = client.message()
        assert told["method"] == "notifications/subscriptions/acknowledged"
        assert told["params"]["_meta"][META + "subscriptionId"] == id
        assert told["params"]["notifications"] == {"toolsListChanged": True, "resourceSubscriptions": ["a://b"]}
        assert client.request("subscriptions/listen")["error"]["code"] == -32602
        client.notify("notifications/cancelled", {"requestId": id})
        second = client.begin("subscriptions/listen", {"notifications": {}})
        assert client.message()["params"]["notifications"] == {}
        status, rest, _ = client.end()
        [last] = map(json.loads, rest.splitlines())
        assert (status, last["id"]) == (0, second) and last["result"]["resultType"] == "complete"
        assert last["result"]["_meta"][META + "subscriptionId"] == second


def test_subscribing_in_the_legacy_era():
    with Legacy() as client:
        assert client.ask("resources/subscribe", {"uri": "a://b"})["result"] == {}
        assert client.ask("resources/unsubscribe", {"uri": "a://b"})["result"] == {}
        assert client.ask("resources/subscribe", {})["error"]["code"] == -32602
        for i in range(256):
            client.start("resources/subscribe", {"uri": f"a://{i}"})
        assert client.ask("resources/subscribe", {"uri": "a://more"})["error"]["code"] == -32602


# ---- the command ----

def test_print_config_says_which_paths_will_not_do():
    done = box.glovebox("mcp", "--print-config", "claude", "-m", "data:d", "-m", "/usr:u", "--audit", "/x", "--tools", "t.json")
    assert done.returncode == 0 and json.loads(done.stdout)
    assert [line.split(": ")[2] for line in done.stderr.splitlines()] == ["--mount data:d", "--tools t.json"]


def test_a_terminal_is_for_sessions():
    with Legacy("--pty") as client:
        assert client.call("run_shell", command="echo one")["structuredContent"]["stdout"] == "one\n"
        tty = client.call("run_shell", command="tty", session="new")["structuredContent"]["stdout"]
        assert tty.startswith("/dev/pts/")


@pytest.mark.parametrize("agent, path", [("claude", ["mcpServers", "glovebox"]), ("cursor", ["mcpServers", "glovebox"]),
                                         ("vscode", ["servers", "glovebox"]), ("generic", [])])
def test_print_config(agent, path):
    done = box.glovebox("mcp", "--timeout", "5", "--print-config", agent, "--memory", "256M")
    entry = json.loads(done.stdout)
    for key in path:
        entry = entry[key]
    assert entry["args"] == ["mcp", "--timeout", "5", "--memory", "256M"]
    assert (entry.get("type") == "stdio") == (agent == "vscode")
    with Client(command=[entry["command"], *entry["args"]]) as client:
        assert client.initialize()["serverInfo"]["name"] == "glovebox"


def test_usage():
    assert box.glovebox("mcp", "x").returncode == 2
    assert box.glovebox("mcp", "--print-config", "emacs").returncode == 2
    assert box.glovebox("mcp", "--ask-timeout", "x").returncode == 2
    done = box.glovebox("mcp", "--isolation", "none", "--policy", "loose")
    assert done.returncode == 2 and done.stdout == "" and done.stderr.startswith("glovebox: ")


def test_from_a_file_and_to_a_file(tmp_path):
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_text("".join(json.dumps({"jsonrpc": "2.0", "id": i, "method": "ping"}) + "\n" for i in range(500)))
    with open(source) as stdin, open(target, "w") as stdout:
        import subprocess
        done = subprocess.run([box.GLOVEBOX, "mcp"], stdin=stdin, stdout=stdout, env=box.ENV, timeout=30)
    assert done.returncode == 0
    assert [json.loads(line)["id"] for line in target.read_text().splitlines()] == list(range(500))
    assert box.glovebox("mcp").returncode == 0  # from /dev/null


def test_a_tool_command_sees_none_of_the_protocol():
    """It has neither our input nor our output, whatever it does with its own."""
    with Legacy("--tool", "noisy=cat >/dev/null; echo noise >&2; head -c 1 <&0; echo '\"done\"'") as client:
        result = client.call("execute_code", code="noisy()")
        assert result["structuredContent"]["value"] == "done"
        assert "noisy" in client.ask("tools/list")["result"]["tools"][0]["description"]
