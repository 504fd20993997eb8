"""Sessions, their files, and the shell, over MCP."""
import base64

import pytest

import box
from mcp import Legacy, Modern

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="


@pytest.fixture(params=[Legacy, Modern], ids=["legacy", "modern"])
def client(request):
    with request.param() as one:
        yield one


def begin(client, code="x = 41"):
    result = client.call("execute_code", code=code, session="new")
    assert result["isError"] is False, result
    session = result["structuredContent"]["session"]
    assert session["state"] == "new" and session["name"].startswith("sess-")
    assert f"session: {session['name']} (new)" in result["content"][0]["text"]
    return session["name"]


def refused(result, word):
    assert result["isError"] is True and word in result["content"][0]["text"], result


def test_names_and_files_stay(client):
    s = begin(client)
    result = client.call("execute_code", code="open('a.txt', 'w').write('hi'); x + 1", session=s)
    assert result["structuredContent"]["value"] == 42
    assert result["structuredContent"]["session"]["state"] == "intact"
    assert client.call("execute_code", code="open('a.txt').read()", session=s)["structuredContent"]["value"] == "hi"
    assert begin(client) != s


def test_a_call_that_is_killed_costs_one_call(client):
    s = begin(client)
    result = client.call("execute_code", code="x = 0\nwhile True: pass", session=s, timeout=0.5)
    assert result["structuredContent"]["session"]["state"] == "rolled_back"
    assert "rolled_back" in result["content"][0]["text"]
    assert client.call("execute_code", code="x", session=s)["structuredContent"]["value"] == 41


def test_calls_of_one_session_are_in_order(client):
    s = begin(client, "seen = []")
    ids = [client.begin("tools/call", {"name": "execute_code", "arguments": {
        "code": f"seen.append({i}); list(seen)", "session": s}}) for i in range(5)]
    values = [client.answer(id)["result"]["structuredContent"]["value"] for id in ids]
    assert values == [list(range(i + 1)) for i in range(5)]


def test_handles_that_are_none(client):
    s = begin(client)
    refused(client.call("session_close", session=""), "session")
    for wrong in ("sess-aaaaaaaaaaaaaaaaaaaaaaaa", "NEW", s[:-1], s + "x", s.upper(), "x\0"):
        refused(client.call("execute_code", code="1", session=wrong), "unknown session")
        refused(client.call("session_close", session=wrong), "unknown session")
    refused(client.call("session_reset", session="new"), "unknown session")
    refused(client.call("execute_code", code="1", session="x" * 65), "session")


def test_resetting_and_closing(client):
    s = begin(client)
    assert client.call("session_reset", session=s)["structuredContent"]["name"] == s
    refused(client.call("execute_code", code="x", session=s), "NameError")
    assert client.call("session_close", session=s)["content"][0]["text"] == "done"
    refused(client.call("session_close", session=s), "unknown session")
    refused(client.call("execute_code", code="1", session=s), "unknown session")


def test_a_first_program_that_is_refused_leaves_no_handle(client):
    result = client.call("execute_code", code="x = = 1", session="new")
    assert result["structuredContent"]["status"] == "rejected" and "session" not in result["structuredContent"]


def test_files(client):
    written = client.call("write_file", session="new", path="d/in.csv", text="a,b\n1,2\n")
    s = written["structuredContent"]["name"]
    assert written["content"][0]["text"] == f"done\nsession: {s}"
    data = bytes(range(256))
    client.call("write_file", session=s, path="b.bin", base64=base64.b64encode(data).decode())
    code = "(open('d/in.csv').read(), list(open('b.bin', 'rb').read(3)))"
    assert client.call("execute_code", code=code, session=s)["structuredContent"]["value"] == ["a,b\n1,2\n", [0, 1, 2]]
    listed = client.call("list_files", session=s)
    assert {f["path"]: f["bytes"] for f in listed["structuredContent"]["files"]} == {"b.bin": 256, "d/in.csv": 8}
    assert sorted(listed["content"][0]["text"].splitlines()) == ["b.bin (256 bytes)", "d/in.csv (8 bytes)",
                                                                 f"session: {s}"]
    read = client.call("read_file", session=s, path="d/in.csv")
    assert read["content"][0]["text"] == "a,b\n1,2\n" and read["structuredContent"]["is_whole"] is True
    part = client.call("read_file", session=s, path="d/in.csv", offset=2, length=1)
    assert part["structuredContent"]["text"] == "b" and "1 bytes from 2 on, of 8" in part["content"][0]["text"]
    binary = client.call("read_file", session=s, path="b.bin")["structuredContent"]
    assert base64.b64decode(binary["base64"]) == data
    client.call("write_file", session=s, path="p.png", base64=PIXEL)
    assert [b["type"] for b in client.call("read_file", session=s, path="p.png")["content"]] == ["text", "image"]


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "link", "nope", ".", "d"])
def test_files_that_are_not_the_sessions(client, path):
    s = begin(client, "import os\nos.symlink('/etc/passwd', 'link')\nos.mkdir('d')")
    result = client.call("read_file", session=s, path=path)
    assert result["isError"] is True and "root:" not in str(result)


def test_wrong_arguments_of_files(client):
    s = begin(client)
    refused(client.call("write_file", session=s, path="a"), "text and base64")
    refused(client.call("write_file", session=s, path="a", text="x", base64="eA=="), "text and base64")
    refused(client.call("write_file", session=s, path="../a", text="x"), "..")
    refused(client.call("write_file", session=s, path="a", base64="not base64!"), "base64")
    refused(client.call("read_file", session=s), "path")
    refused(client.call("read_file", session=s, path="a", offset=-1), "offset")
    refused(client.call("execute_code", code="x = = 1", session=s), "syntax")
    assert client.call("execute_code", code="x", session=s)["structuredContent"]["value"] == 41


def test_every_tool_has_both_schemas(client):
    """363"""
    tools = {t["name"]: t for t in client.request("tools/list")["result"]["tools"]}
    assert list(tools) == ["execute_code", "run_shell", "session_reset", "session_close", "list_files", "read_file", "write_file"]
    assert all(t["inputSchema"]["additionalProperties"] is False and t["outputSchema"]["type"] == "object"
               for t in tools.values())
    assert "30 minutes without a call, and after 24 hours" in tools["execute_code"]["description"]
    reads = {name for name, t in tools.items() if t["annotations"]["readOnlyHint"]}
    assert reads == {"list_files", "read_file"}


def test_times_are_told_as_configured(tmp_path):
    config = tmp_path / "c.json"
    config.write_text('{"session_idle": 0.4, "session_life": 7200}')
    with Legacy("--config", config) as client:
        assert "after 1 minutes without a call, and after 2 hours" in client.ask("tools/list")["result"]["tools"][0]["description"]
        s = begin(client)
        assert client.is_quiet(0.9)
        refused(client.call("execute_code", code="x", session=s), "gone")
        refused(client.call("execute_code", code="x", session=s), "unknown session")


def test_the_shell(client):
    result = client.call("run_shell", command="echo hi; echo oops >&2; sleep 50 & sleep 0.2; exit 3")
    assert result["structuredContent"]["exit_code"] == 3 and result["isError"] is True
    text = result["content"][0]["text"]
    assert "hi\nstderr:\noops" in text and "status: error (exit code 3)" in text
    assert "left running, and ended: sleep" in text
    made = client.call("run_shell", command="echo data > out.txt")
    assert made["content"][1]["resource"]["text"] == "data\n"
    refused(client.call("run_shell", command=""), "command")


def test_what_is_refused_is_told_once():
    """362: the rule's own words, as the call's result."""
    with Legacy("--deny", r"\brm\b") as client:
        result = client.call("run_shell", command="rm -rf x")
        assert result["isError"] is True and result["structuredContent"]["status"] == "rejected"
        assert result["content"][0]["text"].count(r"matches the deny pattern '\brm\b'") == 1


def test_a_shell_that_stays(client):
    first = client.call("run_shell", command="mkdir d && cd d && x=41 && echo text > out.txt", session="new")
    s = first["structuredContent"]["session"]["name"]
    result = client.call("run_shell", command="pwd; echo $((x + 1))", session=s)
    assert result["structuredContent"]["stdout"].endswith("/d\n42\n")
    assert result["structuredContent"]["session"]["state"] == "intact"
    assert client.call("read_file", session=s, path="d/out.txt")["structuredContent"]["text"] == "text\n"
    client.call("write_file", session=s, path="d/out.txt", text="other\n")
    assert client.call("run_shell", command="cat out.txt", session=s)["structuredContent"]["stdout"] == "other\n"
    refused(client.call("execute_code", code="1", session=s), "there is a shell and no Python")
    client.call("session_reset", session=s)
    assert client.call("run_shell", command="echo ${x-none}", session=s)["structuredContent"]["stdout"] == "none\n"
    client.call("session_close", session=s)
    refused(client.call("run_shell", command="pwd", session=s), "unknown session")
    refused(client.call("run_shell", command="pwd", session=begin(client)), "there is Python and no shell")


def test_files_first_and_then_either(client):
    for tool, arguments in (("run_shell", {"command": "cat in.txt"}), ("execute_code", {"code": "print(open('in.txt').read())"})):
        s = client.call("write_file", session="new", path="in.txt", text="given")["structuredContent"]["name"]
        assert client.call(tool, session=s, **arguments)["structuredContent"]["stdout"].strip() == "given"


def test_files_go_into_a_shell_that_stays(client):
    s = client.call("run_shell", command=":", session="new")["structuredContent"]["session"]["name"]
    client.call("write_file", session=s, path="d/in.txt", text="hello\n")
    assert client.call("run_shell", command="cat d/in.txt", session=s)["structuredContent"]["stdout"] == "hello\n"


def test_jobs_are_told(client):
    first = client.call("run_shell", command="sleep 60 & echo $!", session="new")
    pid = first["structuredContent"]["stdout"].strip()
    assert f"job {pid} runs: sleep 60 &" in first["content"][0]["text"]
    s = first["structuredContent"]["session"]["name"]
    second = client.call("run_shell", command=f"kill {pid}; sleep 0.1", session=s)
    assert f"job {pid} has ended: sleep 60" in second["content"][0]["text"]


def test_rules_are_told_before_and_after():
    with Legacy("--allow-command", "git,ls") as client:
        tools = {t["name"]: t["description"] for t in client.ask("tools/list")["result"]["tools"]}
        assert "Only these commands can be used: git, ls." in tools["run_shell"]
        assert "what a job prints later" in tools["run_shell"] and "what a job prints" not in tools["execute_code"]
        text = client.call("run_shell", command="ls; rm x")["content"][0]["text"]
        assert "error (allow_command, line 1): 'rm' is not an allowed command\nhelp: " in text and "git, ls" in text


def test_the_shell_is_asked_about_too():
    with Legacy("--approve", "always", capabilities={"elicitation": {}}) as client:
        id = client.begin("tools/call", {"name": "run_shell", "arguments": {"command": "echo marker"}})
        question = client.message()
        assert "echo marker" in question["params"]["message"]
        client.send({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"approve": True}}})
        assert client.answer(id)["result"]["structuredContent"]["stdout"] == "marker\n"
    with Legacy("--approve", "always") as client:
        text = client.call("run_shell", command="echo marker")["content"][0]["text"]
        assert "error (approval): not approved: this MCP client cannot ask" in text


def test_sessions_end_with_the_server(client):
    begin(client, "import subprocess\nsubprocess.Popen(['sleep', '60'])")
    status, _, seconds = client.end()
    assert status == 0 and seconds < (5 if box.SANITIZED else 1.5)
    assert box.nothing_left() == {}
