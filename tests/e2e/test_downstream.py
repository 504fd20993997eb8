"""Tools of other MCP servers inside the box, with servers that behave well or badly (odd_server.py)."""
import json
import os
import re
import time

import pytest

import box
import mcp
import web

ODD = str(box.ROOT / "tests/e2e/odd_server.py")


def server(*modes, **more):
    return {"command": box.PYTHON, "args": [ODD, *modes], **more}


@pytest.fixture
def config(tmp_path):
    """Write a configuration; its path."""
    def write(**servers):
        path = tmp_path / "mcp.json"
        path.write_text(json.dumps({"mcpServers": servers}))
        return path
    return write


@pytest.fixture
def run(config):
    """The result of code beside servers that are named."""
    def go(code, *options, **servers):
        return box.run_json(code, "--mcp", config(**servers), *options)
    return go


@pytest.fixture
def value(run):
    def go(code, *options, **servers):
        result = run(code, *options, **servers)
        assert result["status"] == "ok", (result["status"], result["error"])
        return result["value"]
    return go


def left_behind(word):
    """Processes whose command line has this in it."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = open(f"/proc/{pid}/cmdline", "rb").read()
        except OSError:
            continue
        if word.encode() in line:
            found.append(int(pid))
    return found


ERAS = pytest.mark.parametrize("modes", [(), ("modern",), ("dies-on-probe",)], ids=["legacy", "modern", "dies-on-probe"])
TRY = """
def attempt(f, **args):
    try:
        return f(**args)
    except Exception as e:
        return [type(e).__name__, getattr(e, "type", None), getattr(e, "message", str(e))]
"""


# ---- what programs find ----

@ERAS
def test_calls(value, modes):
    assert value(TRY + """
[odd.echo(text="a"), odd.add(a=1, b=2), odd.json(), call_tool("odd.echo", text="b"), attempt(odd.fail)[:2]]
""", odd=server(*modes)) == ["a", {"sum": 3}, {"rows": [1, 2, {"deep": True}]}, "b", ["ToolError", "ToolFailed"]]


def test_side_by_side(value):
    assert value("""
import asyncio
[await asyncio.gather(*(odd.add(a=i, b=i) for i in range(300))), await odd.echo(text="x")]
""", odd=server()) == [[{"sum": 2 * i} for i in range(300)], "x"]


def test_strict_policy(value):
    assert value("odd.add(a=1, b=2)['sum']", "--policy", "strict", odd=server()) == 3


def test_two_servers_and_a_tool(value):
    assert value("[one.add(a=1, b=1), two_.add(a=2, b=2), mine(x=1)]", "--tool", "mine=cat",
                 one=server(), **{"two-": server("modern")}) == [{"sum": 2}, {"sum": 4}, {"x": 1}]


def test_arguments_are_checked_before_they_are_sent(value):
    assert value(TRY + "[attempt(odd.add, a='1', b=2), attempt(odd.add, a=1)]",
                 odd=server()) == [["ToolError", "InvalidArguments", "a must be integer, not string"],
                                       ["ToolError", "InvalidArguments", "'b' is missing"]]


def test_unknown_tools(value):
    got = value(TRY + """
def unknown(): return odd.nothing
[attempt(unknown), attempt(lambda: call_tool("odd.nothing")), hasattr(odd, "nothing"), "echo" in dir(odd), repr(odd)[:20]]
""", odd=server())
    assert "odd has no tool 'nothing'; there are: echo, add" in got[0][2]
    assert got[1][0] == "UnknownToolError" and got[2:] == [False, True, "<tools of odd: add, "]


def test_handles(value):
    assert value(TRY + """
got, link = odd.picture(), odd.link()
[got[0], got[1].kind, got[1].mime, got[1].size, list(got[1].read()), repr(got[1]), got[2], got[3],
 link.uri, link.text(), attempt(lambda: call_tool("read_handle", handle="0" * 32))[:2]]
""", odd=server("picture")) == [
        "here", "image", "image/png", 8, list(b"\x89PNG\r\n\x1a\n"), "<image, image/png, 8 bytes>",
        "(a block of the type 'image' that cannot be read)", "(a block of the type 'strange' that cannot be read)",
        "odd://one", "one read", ["ToolError", "UnknownHandle"]]


def test_handles_in_an_event_loop(value):
    assert value("got = await odd.picture()\n[len(await got[1].read()), await (await odd.link()).text()]",
                 odd=server("picture")) == [8, "one read"]


def test_a_picture_can_be_displayed(run):
    result = run("display(odd.picture()[1])", odd=server("picture"))
    assert [o["mime"] for o in result["outputs"]] [:1] == ["image/png"]


def test_search_and_describe(value):
    got = value("""
[search_tools("delete parcel", limit=3), search_tools(query="say again")[0]["name"], search_tools("zzz"),
 describe_tool("odd.add"), len(search_tools("get", limit=50))]
""", odd=server("many"))
    assert len(got[0]) == 3 and all(hit["name"].startswith("odd.delete_parcel_") for hit in got[0])
    assert got[0][0]["signature"] == got[0][0]["name"] + "(*, id: str = ...) -> Any"
    assert got[1:3] == ["odd.echo", []] and got[4] == 50
    assert got[3]["signature"] == "odd.add(*, a: int, b: int) -> dict" and "sum" in got[3]["returns"]["properties"]


def test_instructions_stay_small(config):
    few = box.glovebox("instructions", "--mcp", config(odd=server()))
    many = box.glovebox("instructions", "--mcp", config(odd=server("many"), more=server("many")))
    assert "odd.add(*, a: int, b: int) -> dict\n    Add two numbers\n    returns {sum: int}\n" in few.stdout
    assert "search_tools" not in few.stdout
    assert 'search_tools("words")' in many.stdout and "odd: echo, add, json" in many.stdout
    assert " more\n" in many.stdout and len(many.stdout) < 8000


def test_one_with_too_many_tools_takes_none_from_others(config):
    done = box.glovebox("run", "--json", "--mcp", config(a=server("thousand"), b=server("thousand"), odd=server()), "-c",
                        "[len(dir(a)) == len(dir(b)), len(dir(a)) > 900, odd.add(a=1, b=1)]")
    assert json.loads(done.stdout)["value"] == [True, True, {"sum": 2}], done.stdout
    assert "there are more than 2000 tools in all" in done.stderr


def test_a_session_keeps_what_it_was_given(config):
    results = box.batch([{"code": "f = odd.echo; h = odd.link()", "session": "s"},
                         {"code": "[f(text='later'), h.text(), odd.add(a=1, b=1)]", "session": "s"}],
                        "--mcp", config(odd=server("picture")), "-j", "1")
    assert results[1]["value"] == ["later", "one read", {"sum": 2}], results[1]["error"]


def test_repl(config):
    done = box.glovebox("repl", "--mcp", config(odd=server()), input="x = odd.add(a=20, b=1)\nx['sum'] * 2\n")
    assert done.stdout == "42\n"


def test_calls_are_in_the_result_and_the_audit(run, tmp_path):
    audit = tmp_path / "audit"
    result = run("odd.echo(text='quiet words')", "--audit", audit, odd=server())
    assert [(c["name"], c["ok"]) for c in result["tool_calls"]] == [("odd.echo", True)]
    assert '"odd.echo"' in audit.read_text() and "quiet words" not in audit.read_text()


# ---- configuration ----

@pytest.mark.parametrize("servers, message", [
    ({"a": {}}, "has neither a command nor a url"),
    ({"a": {"command": "x", "url": "http://x"}}, "has a command and a url"),
    ({"a": {"command": 1}}, "command: must be a string"),
    ({"a": {"command": "x", "args": "y"}}, "args: must be a list of strings"),
    ({"a": {"command": "x", "denny": ["*"]}}, "unknown key 'denny': did you mean 'deny'?"),
    ({"a": {"command": "${NOT_SET_AT_ALL}"}}, "the variable NOT_SET_AT_ALL is not set"),
    ({"a": {"url": "http://x", "type": "sse"}}, "the transport of 2024 (HTTP+SSE) is not spoken"),
    ({"a": {"command": "x", "timeout": 0}}, "timeout: must be a number of seconds"),
    ({"a": server(passthrough=True), "a__b": server(passthrough=True)}, "clients could not tell its tools from those of 'a'"),
    ({"a_": server(passthrough=True), "a": server(passthrough=True)}, "clients could not tell its tools from those of 'a_'"),
    ({"a-b": server(), "a.b": server()}, "programs would find it as 'a_b', which is also the server 'a-b'"),
    ({"---": server()}, "its name cannot be made one that programs can use"),
    ({"a": {"command": "x", "headers": {}}}, "headers and ca are for a server with a url"),
    ({"a": {"url": "http://x", "headers": {"A": "b\r\nC: d"}}}, "'A' has a line break in it"),
])
def test_configuration_is_refused(config, servers, message):
    done = box.glovebox("run", "--mcp", config(**servers), "-c", "1")
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert done.stderr.startswith("glovebox: ") and done.stdout == ""


def test_a_name_cannot_be_a_tool_and_a_server(config):
    done = box.glovebox("run", "--mcp", config(odd=server()), "--tool", "odd=cat", "-c", "1")
    assert done.returncode == 2 and "the server 'odd' and a tool would both be 'odd'" in done.stderr


def test_keys_of_other_agents_are_passed_over(config):
    done = box.glovebox("run", "--mcp", config(odd=server(alwaysAllow=[]), off={"command": "no", "disabled": True}),
                        "-c", "odd.echo(text='x')")
    assert done.returncode == 0
    assert "note: the key 'alwaysAllow' of the server 'odd' means nothing here" in done.stderr


def test_allow_and_deny(value):
    assert value("dir(odd)", odd=server(allow=["e*", "add"], deny=["environ"])) == ["add", "echo"]


def test_approval(run):
    result = run("odd.echo(text='x')", odd=server(approval=["add"]))
    assert result["status"] == "rejected"
    assert run("1", odd=server(approval="never"))["status"] == "ok"


def test_a_directory_cannot_bring_servers(tmp_path):
    (tmp_path / "glovebox.json").write_text(json.dumps({"mcp": {"odd": server()}}))
    done = box.glovebox("run", "-c", "odd.add(a=1, b=1)", cwd=tmp_path)
    assert done.returncode == 1 and "is ignored in: mcp." in done.stderr
    assert box.glovebox("run", "--config", "glovebox.json", "-c", "odd.add(a=1, b=1)", cwd=tmp_path).returncode == 0


def test_servers_see_only_what_they_are_given(value):
    seen = value("odd.environ()", odd=server(env={"MODE": "${MODE_OUTSIDE:-fallback} x"}))
    assert seen["MODE"] == "fallback x" and "PATH" in seen and "GLOVEBOX_REVIEW_KEY" not in seen
    assert set(seen) <= {"MODE", "HOME", "LANG", "PATH", "TMPDIR", "LC_CTYPE"}


@pytest.mark.parametrize("secret", ["very-secret-key", 'very-"secret"\\key'])
def test_credentials_stay_outside(config, tmp_path, secret):
    path, audit = config(odd=server("loud", env={"API_KEY": secret})), tmp_path / "audit"
    done = box.glovebox("run", "--json", "--audit", audit, "--mcp", path, "-c", TRY + """
import os
[odd.environ()["API_KEY"], attempt(odd.fail), dict(os.environ), describe_tool("odd.fail"), repr(odd)]""")
    told = box.glovebox("instructions", "--mcp", path)
    assert "it failed with ***" in done.stdout and json.loads(done.stdout)["status"] == "ok"
    assert "mcp odd: key: ***" in done.stderr and "\x1b" not in done.stderr
    for text in (done.stdout, done.stderr, audit.read_text(), told.stdout, told.stderr):
        assert "very-" not in text


# ---- servers that behave badly ----

def test_one_that_does_not_start(config):
    for bad, why in ((server("no-start"), "it ended with exit status 4"),
                     ({"command": "/no/such/program"}, "it ended with exit status 127"),
                     (server("old"), "it wants to speak version '1999-01-01', which is not known here"),
                     (server("no-list"), "it does not list its tools: there is no list in its answer"),
                     (server(cwd="/no/such/directory"), "starting it: No such file or directory")):
        done = box.glovebox("run", "--mcp", config(odd=bad), "-c", "1")
        assert done.returncode == 125 and f"the MCP server 'odd' is not there: {why}" in done.stderr, done.stderr


def test_one_that_is_slow_to_start(config):
    done = box.glovebox("run", "--mcp", config(odd={"command": "sleep", "args": ["100"], "start_timeout": 0.5}), "-c", "1")
    assert done.returncode == 125 and "it was not ready within 0.5 s" in done.stderr
    assert "it ended" not in done.stderr


def test_one_that_dies(value):
    assert value(TRY + """
import time
first = odd.pid()
died = attempt(odd.die)
second = odd.pid()
died_again = attempt(odd.die)
at_once = attempt(odd.pid)[:2]
time.sleep(1.6)
third = odd.pid()
[died, at_once, len({first[0], second[0], third[0]})]
""", odd=server()) == [["ToolError", "ServerGone", "the server 'odd' is gone: it ended with exit status 3"],
                       ["ToolError", "ServerGone"], 3]


def test_one_that_hangs(value):
    got = value(TRY + """
import time
began = time.monotonic()
late = attempt(odd.sleep, seconds=100)
took = time.monotonic() - began
gone = attempt(odd.pid)
[late, took < 5, gone[1:], len(odd.pid())]
""", odd=server(timeout=0.3, tool_timeouts={"pid": 30}))
    assert got == [["ToolError", "Timeout", "the tool took longer than 0.3 s"], True,
                   ["ServerGone", "the server 'odd' is gone: it does not answer any more"], 1]


def test_one_that_only_takes_its_time(value):
    """A call that is given up is told to the server, which goes on with others."""
    assert value(TRY + """
late = attempt(odd.sleep, seconds=1)
[late[1], odd.pid() != None, len(odd.cancelled())]
""", odd=server(timeout=30, tool_timeouts={"sl*": 0.2})) == ["Timeout", True, 1]


def test_one_that_floods(value, run):
    got = value(TRY + "[attempt(odd.flood)[1], odd.echo(text='still there')]", odd=server("flood"))
    assert got == ["ServerGone", "still there"]


def test_one_whose_answer_is_huge(value):
    got = value(TRY + "[attempt(odd.huge)[1:], odd.echo(text='x')]", odd=server("huge"))
    assert got == [["InvalidResult", "the server 'odd': it sent a message of more than 8 MiB"], "x"]


def test_one_that_answers_twice_or_others(value):
    assert value(TRY + """
[odd.twice(), odd.echo(text="mine"), attempt(odd.wrong)[1], odd.echo(text="mine too")]
""", odd=server("twice", "wrong", tool_timeouts={"wrong": 0.3})) == ["first", "mine", "Timeout", "mine too"]


def test_one_that_sends_garbage(config):
    done = box.glovebox("run", "--mcp", config(odd=server("garbage")), "-c", "print(odd.garbage())")
    assert done.stdout == "clean\n" and "mcp odd: it sent what is no message" in done.stderr


def test_one_that_lies_about_its_tools(config):
    done = box.glovebox("run", "--json", "--mcp", config(odd=server("lie", "duplicate")), "-c", TRY + """
[attempt(odd.lie), attempt(odd.silent)[1], dir(odd), odd.class_(), odd.with_space(), odd.odd(a=5, b=1, x1=2),
 attempt(odd.odd, b="x")[1]]""")
    got = json.loads(done.stdout)["value"]
    assert got[0] == ["ToolError", "InvalidResult",
                      "the result is not what the server's schema says: n must be integer, not string"]
    assert got[1] == "InvalidResult"
    assert [name for name in got[2] if name in ("a_b", "no_schema", "list_schema") or len(name) > 100] == ["list_schema"] or \
        not [name for name in got[2] if name in ("a_b", "no_schema") or len(name) > 100]
    assert got[3]["called"] == "class" and got[4]["called"] == "with space"
    assert got[5]["args"] == {"a": 5, "b": 1, "x1": 2} and got[6] == "InvalidArguments"
    assert "the tool 'a-b' is left out: programs would find another one as 'odd.a_b' too" in done.stderr
    assert "a tool is left out ('no_schema'): it has no inputSchema" in done.stderr
    assert "a tool is left out ('echo'): there are two of that name" in done.stderr


def test_one_whose_words_would_pass_for_ours(config):
    done = box.glovebox("run", "--mcp", config(odd=server("forge")), "-c", "1")
    assert done.returncode == 0 and r"('x\x0aglovebox: all is well\x1b[2J')" in done.stderr
    assert not [line for line in done.stderr.splitlines() if line.startswith("glovebox: all")] and "\x1b" not in done.stderr


@pytest.mark.parametrize("modes", [("confused",), ("endless",)])
def test_one_that_is_confused(config, modes):
    done = box.glovebox("run", "--mcp", config(odd=server(*modes)), "-c", "print(dir(odd) if 'odd' in dir() else 'none')")
    if modes == ("endless",):
        assert done.returncode == 0 and "none" in done.stdout and "does not end; the rest is left out" in done.stderr
    else:
        assert done.returncode == 0 and "echo" in done.stdout, done.stderr


def test_one_that_asks(value):
    answers = value("odd.ask()", odd=server("ask"))
    assert [(a["id"], a.get("error", {}).get("code"), a.get("result")) for a in answers] == [(77, -32601, None), (78, None, {})]


def test_one_that_talks_too_much(config):
    done = box.glovebox("run", "--mcp", config(odd=server("loud")), "-c", "1")
    assert done.returncode == 0 and len(done.stderr.splitlines()) < 150
    assert "(it says more than is shown here)" in done.stderr


def test_tools_that_change(config):
    results = box.batch([{"code": "odd.grow()", "session": "s"},
                         {"code": "import time; time.sleep(2)", "session": "s"},
                         {"code": "odd.grown()", "session": "s"}],
                        "--mcp", config(odd=server("grow")), "-j", "1")
    assert results[2]["value"]["called"] == "grown", results[2]["error"]


# ---- the end ----

@pytest.mark.parametrize("how", ["run", "killed", "mcp", "mcp, busy"])
def test_nothing_is_left_behind(config, how):
    path = config(odd=server("stubborn"))
    started = time.monotonic()
    if how == "run":
        assert box.glovebox("run", "--mcp", path, "-c", "odd.pid()").returncode == 0
        assert time.monotonic() - started < 10
    elif how == "killed":
        with box.running("run", "--mcp", path, "-c", "print(odd.pid(), flush=True); odd.sleep()") as process:
            assert process.stdout.readline()
            process.kill()
            process.wait()
    else:
        with mcp.Legacy("--mcp", path) as client:
            assert client.ask("tools/call", {"name": "execute_code", "arguments": {"code": "odd.pid()"}})
            if how == "mcp, busy":
                client.begin("tools/call", {"name": "execute_code", "arguments": {"code": "print(1, flush=True)\nodd.sleep()"}},
                             {"progressToken": 1})
                assert client.message()["method"] == "notifications/progress"
            status, rest, took = client.end()
            assert status == 0 and rest == b"" and took < (5 if box.SANITIZED else 1.2)
    for word in (ODD + "\0stubborn", "3601", "3602"):
        for _ in range(100):
            if not left_behind(word):
                break
            time.sleep(0.05)
        assert not left_behind(word), word


# ---- as a server ----

@pytest.mark.parametrize("level", ["auto", "landlock"])
def test_code_mode(config, level):
    with mcp.Legacy("--mcp", config(odd=server(), direct=server("modern", passthrough=True, allow=["add", "echo"])),
                    "--code-mode", "--isolation", level) as client:
        tools = client.ask("tools/list")["result"]["tools"]
        assert [tool["name"] for tool in tools] == ["execute_code", "direct__echo", "direct__add"]
        assert "odd.add(*, a: int, b: int" in tools[0]["description"]
        done = client.ask("tools/call", {"name": "execute_code", "arguments": {
            "code": "[odd.add(a=i, b=direct.add(a=i, b=i)['sum'])['sum'] for i in range(10)]"}})["result"]
        assert done["structuredContent"]["value"] == [3 * i for i in range(10)]
        assert len(done["structuredContent"]["tool_calls"]) == 20
        assert done["_meta"]["glovebox/result"]["isolation"]["level"] == level or level == "auto"
        direct = client.ask("tools/call", {"name": "direct__add", "arguments": {"a": 1, "b": 2}})["result"]
        assert direct["structuredContent"] == {"sum": 3} and direct["content"][0]["text"] == "sum"
        bad = client.ask("tools/call", {"name": "direct__add", "arguments": {"a": "x", "b": 2}})
        assert "a must be integer" in json.dumps(bad)


def test_without_code_mode_there_is_everything(config):
    with mcp.Modern("--mcp", config(odd=server())) as client:
        names = [tool["name"] for tool in client.request("tools/list")["result"]["tools"]]
        assert "execute_code" in names and "session_close" in names


def test_a_server_that_is_down_does_not_hold_the_others(config):
    with mcp.Legacy("--mcp", config(odd=server(), gone=server("no-start")), "--code-mode") as client:
        done = client.ask("tools/call", {"name": "execute_code", "arguments": {"code": "odd.add(a=1, b=1)['sum']"}})
        assert done["result"]["structuredContent"]["value"] == 2


def test_clients_are_told_of_changes(config):
    with mcp.Legacy("--mcp", config(odd=server("grow", passthrough=True)), "--code-mode") as client:
        assert "odd__grown" not in json.dumps(client.ask("tools/list"))
        client.ask("tools/call", {"name": "odd__grow", "arguments": {}})
        end = time.monotonic() + 20
        while time.monotonic() < end:
            if client.message()["method"] == "notifications/tools/list_changed":
                break
        assert "odd__grown" in json.dumps(client.ask("tools/list"))


def test_passthrough_can_need_approval(config):
    path = config(odd=server(passthrough=True, approval=["add"]))
    call = {"name": "odd__add", "arguments": {"a": 1, "b": 2}}
    with mcp.Legacy("--mcp", path, "--code-mode") as client:
        refused = client.ask("tools/call", call)["result"]
        assert refused["isError"] and "cannot ask" in refused["content"][0]["text"]
    with mcp.Legacy("--mcp", path, "--code-mode", capabilities={"elicitation": {}}) as client:
        id = client.start("tools/call", call)
        question = client.message()
        assert question["method"] == "elicitation/create"
        assert question["params"]["message"] == 'Call odd.add with this?\n\n{"a":1,"b":2}'
        client.send({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"approve": True}}})
        assert client.answer(id)["result"]["structuredContent"] == {"sum": 3}


def test_nothing_of_a_call_is_hidden_from_whoever_is_asked(config):
    path = config(odd=server(passthrough=True, approval=["echo"]))
    with mcp.Legacy("--mcp", path, "--code-mode", capabilities={"elicitation": {}}) as client:
        client.start("tools/call", {"name": "odd__echo", "arguments": {"text": "\u202e" + "é" * 20000, "rest": "x" * 100}})
        shown = client.message()["params"]["message"]
        assert '{"text":"\\u{202e}é' in shown and shown.endswith("x" * 100 + '"}')
        id = client.start("tools/call", {"name": "odd__echo", "arguments": {"text": "é" * 40000}})
        refused = client.answer(id)["result"]  # what cannot be shown is not asked about
        assert refused["isError"] and "longer than a question" in refused["content"][0]["text"]


def test_print_config_keeps_the_servers(config):
    done = box.glovebox("mcp", "--print-config", "claude", "--code-mode", "--mcp", "x.json")
    assert json.loads(done.stdout)["mcpServers"]["glovebox"]["args"] == ["mcp", "--code-mode", "--mcp", "x.json"]
    assert re.search("glovebox$", json.loads(done.stdout)["mcpServers"]["glovebox"]["command"])


def test_serve(config):
    with web.Server("--mcp", config(odd=server(passthrough=True, allow=["add", "pid"])), "--code-mode") as s:
        assert s.run("odd.add(a=1, b=2)").json()["value"] == {"sum": 3}
        tools = s.modern("tools/list").json()["result"]["tools"]
        assert [tool["name"] for tool in tools] == ["execute_code", "odd__add", "odd__pid"]
        done = s.execute("odd.add(a=2, b=2)['sum']").json()["result"]["structuredContent"]
        assert done["value"] == 4 and [c["name"] for c in done["tool_calls"]] == ["odd.add"]
        s.ends()
    assert not left_behind(ODD)
