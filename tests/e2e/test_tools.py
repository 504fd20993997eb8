"""Tools that are commands: --tool, --tools, and the configuration's."""
import json
import os
import signal
import threading
import time

import pytest
import web
from box import batch, descendants, glovebox, nothing_left, run_json, running, until, value

LEVELS = ["namespaces", "landlock"]
CATCH = "try:\n    r = t()\nexcept ToolError as e:\n    r = [e.type, e.message]\nr"


def tool_error(command, *options):
    return value(CATCH, "--tool", f"t={command}", *options)


@pytest.fixture
def tools_file(tmp_path):
    def write(tools):
        path = tmp_path / "tools.json"
        path.write_text(json.dumps(tools))
        return path
    return write


# ---- arguments in, result out ----

@pytest.mark.parametrize("level", LEVELS)
def test_command(level):
    assert value("t(a=1, b='x\\ny')", "--tool", "t=cat", "--isolation", level) == {"a": 1, "b": "x\ny"}


@pytest.mark.parametrize("command, expected", [
    ("cat", {}),
    ("cat /dev/stdin", {}),
    ("echo 7", 7),
    ("printf '\"\\\\u00e9\"'", "é"),
    ("echo null", None),
    ("echo ' [1, 2] '", [1, 2]),
    ("echo $GLOVEBOX_TOOL | sed 's/.*/\"&\"/'", "t"),
    ("echo 3; exec >&-; true", 3),
    # without reading its arguments
    ("exec <&-; echo 1", 1),
])
def test_results(command, expected):
    assert value("t()", "--tool", f"t={command}") == expected


def test_runs_where_and_as_the_caller(tmp_path):
    (tmp_path / "here.txt").write_text("found")
    command = 't=printf \'"%s %s %s"\' "$(cat here.txt)" "$MINE" "$(id -u)"'
    assert value("t()", "--tool", command, cwd=tmp_path, env={"MINE": "yes"}) == f"found yes {os.getuid()}"


def test_holds_nothing_of_the_host(tmp_path):
    """No descriptor of the host's beyond the three streams, no controlling terminal, its own session."""
    with open(tmp_path / "open", "w") as file:
        os.set_inheritable(file.fileno(), True)
        fds = value("t()", "--tool", "t=ls /proc/self/fd | tr '\\n' ' ' | sed 's/.*/\"&\"/'")
    assert set(fds.split()) <= {"0", "1", "2", "3"}, "3 is the directory itself"
    session = value("t()", "--tool", "t=cut -d' ' -f6 /proc/self/stat")
    assert session != os.getsid(0)


# ---- failures ----

def test_exit_status_and_the_end_of_stderr():
    kind, message = tool_error("echo 'line one' >&2; echo 'no such table' >&2; exit 3")
    assert (kind, message) == ("CommandFailed", "exit status 3: line one\nno such table")
    kind, message = tool_error("yes x | head -c 1000000 >&2; echo the end >&2; exit 1")
    assert kind == "CommandFailed" and message.endswith("x\nthe end") and len(message) < 5000
    assert tool_error("kill -SEGV $$") == ["CommandFailed", "exit status 139"]
    assert tool_error("kill -9 $$") == ["CommandFailed", "exit status 137"]
    assert tool_error("/no/such/command")[0] == "CommandFailed"
    assert tool_error("printf '\\377' >&2; exit 1") == ["CommandFailed", "exit status 1: ?"]


@pytest.mark.parametrize("command", ["echo '{'", "echo nonsense", "printf ''", "printf '\"\\377\"'", "echo NaN",
                                     "echo 1 2", "echo '\"\\ud800\"'", "echo 123456789012345678901234567890"])
def test_output_that_is_no_json(command):
    kind, message = tool_error(command)
    assert kind == "InvalidResult" and message.startswith("the tool's result is not JSON")


def test_output_of_100_mb():
    began = time.monotonic()
    kind, message = tool_error("head -c 100000000 /dev/zero")
    assert (kind, message) == ("InvalidResult", "the tool printed more than 8 MiB")
    kind, message = tool_error("yes")
    assert (kind, message) == ("InvalidResult", "the tool printed more than 8 MiB")
    assert time.monotonic() - began < 20
    assert nothing_left(2) == {}


def test_hanging_tool(tools_file):
    """Its own limit ends it, with everything that it started, and the program goes on."""
    path = tools_file([{"name": "t", "command": "sleep 600 & setsid sleep 600 & sleep 600", "timeout": 0.3},
                       {"name": "u", "command": "echo 5"}])
    assert value(CATCH + " + [u()]", "--tools", path) == ["Timeout", "the tool took longer than 0.3 s", 5]
    assert nothing_left(2) == {}


@pytest.mark.parametrize("level", LEVELS)
def test_run_times_out_in_a_tool(level):
    began = time.monotonic()
    result = run_json("print('x', end='')\nt()", "-t", "0.5", "--isolation", level, "--tool",
                      "t=sleep 600 & setsid sleep 600 & (setsid sleep 600 &) ; sleep 600")
    assert (result["status"], result["stdout"], result["exit_code"]) == ("timeout", "x", 124)
    assert [c["error"] for c in result["tool_calls"]] == ["Cancelled"]
    assert time.monotonic() - began < 10
    assert nothing_left(3) == {}


def test_cancelled_by_the_program():
    """446, for commands: what was given up is killed."""
    result = run_json("import asyncio\ntry:\n    await asyncio.wait_for(t(), 0.2)\nexcept asyncio.TimeoutError:\n"
                      "    r = 'late'\n[r, await u()]", "--tool", "t=sleep 600", "--tool", "u=echo 2")
    assert result["value"] == ["late", 2]
    assert nothing_left(2) == {}


def test_what_it_leaves_running_does_not_hold_the_call():
    began = time.monotonic()
    assert value("t()", "--tool", "t=sleep 30 & echo 1") == 1
    assert time.monotonic() - began < 10
    assert nothing_left(2) == {}


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_engine_is_ended_in_a_call(how):
    """Also when it is killed at once: nothing that the tool started outlives it."""
    with running("run", "--tool", "t=setsid sleep 601 & sleep 602 & sleep 603", "-c", "t()") as process:
        assert until(lambda: list(descendants(process.pid).values()).count("sleep") == 3)
        process.send_signal(how)
        process.wait(20)
    assert nothing_left(3) == {}


def test_keeper_killed_from_outside():
    """The command goes with it, and the program hears of it."""
    with running("run", "--tool", "t=exec sleep 604", "-c", CATCH.replace("\nr", "\nprint(r)")) as process:
        def keepers():
            return [p for p, name in descendants(process.pid).items() if name == "glovebox-keeper"]
        assert until(lambda: keepers() and "sleep" in descendants(process.pid).values())
        os.kill(keepers()[0], signal.SIGKILL)
        out, _ = process.communicate(timeout=20)
    assert out == "['CommandFailed', 'exit status 137']\n"
    assert nothing_left(2) == {}


def test_hundred_at_once():
    """100 gathered tools of 100 ms: well under a second, though each is a process."""
    took, got = value("import asyncio, time\nbegan = time.monotonic()\n"
                      "got = await asyncio.gather(*[t(i=i) for i in range(100)])\n"
                      "[time.monotonic() - began, [g['i'] for g in got] == list(range(100))]",
                      "--tool", "t=sleep 0.1; cat")
    assert got and took < 3, "a busy machine has its own idea of a second; one after another it were ten"


def test_more_commands_than_run_at_once():
    result = run_json("import asyncio\ngot = await asyncio.gather(*[t(i=i) for i in range(300)])\n"
                      "sorted(g['i'] for g in got) == list(range(300))", "--tool", "t=cat", "-t", "60")
    assert result["value"] is True
    assert len(result["tool_calls"]) == 200 and result["tool_calls_omitted"] == 100


# ---- where they come from ----

def test_tools_file(tools_file):
    spec = {"description": "Adds.", "command": "cat",
            "parameters": {"properties": {"a": {"type": "integer"}}, "required": ["a"]}}
    for tools in ([{"name": "t", **spec}], {"t": spec}):
        path = tools_file(tools)
        assert value("t(a=1)", "--tools", path) == {"a": 1}
        assert value("try:\n    t(a='x')\nexcept ToolError as e:\n    r = str(e)\nr", "--tools", path) == \
            "InvalidArguments: a must be integer, not string"
    # the command line wins, name by name
    assert value("[t(a=1), u()]", "--tools", path, "--tool", "t=echo 1", "--tool", "u=echo 2") == [1, 2]


@pytest.mark.parametrize("args, said", [
    (["--tool", "x"], "is not NAME=COMMAND"),
    (["--tool", "=x"], "is not NAME=COMMAND"),
    (["--tool", "x="], "is not NAME=COMMAND"),
    (["--tools", "/no/such/file"], "/no/such/file"),
    (["--tool", "execute_code=cat"], "execute_code"),
    (["--tool", "a\nb=cat"], "control character"),
    (["--tool-calls", "0"], "--tool-calls"),
])
def test_refused_options(args, said):
    done = glovebox("run", *args, "-c", "1")
    assert done.returncode in (2, 125) and said in done.stderr


def test_displaying_while_answers_wait():
    """The host does not read while a megabyte of its answers is unread; a large thing to display must not wait for it."""
    code = ("import asyncio, time\n"
            "class Wide:\n    def _repr_html_(self): return 'x' * 300000\n"
            "calls = [asyncio.ensure_future(t()) for _ in range(10)]\n"
            "await asyncio.sleep(0.05)\ntime.sleep(1)\ndisplay(Wide())\n"
            "[len(it) for it in await asyncio.gather(*calls)]")
    result = run_json(code, "--tool", "t=printf '\"%0500000d\"' 0", "--timeout", "20")
    assert result["value"] == [500000] * 10, (result["status"], result["error"])
    assert any(it["mime"] == "text/html" for it in result["outputs"])


@pytest.mark.parametrize("tools, said", [
    ("{", "tools.json:1"),
    ("3", "tools.json:1"),
    ('[3]', "must be an object"),
    ('[{"name": "a"}]', "the tool 'a' has no command"),
    ('[{"name": "a", "command": "x", "parameters": {"properties": {"b": {"contains": 1}}}}]',
     "'contains' is no keyword"),
])
def test_refused_files(tmp_path, tools, said):
    (tmp_path / "tools.json").write_text(tools)
    done = glovebox("run", "--tools", tmp_path / "tools.json", "-c", "1")
    assert done.returncode in (2, 125) and said in done.stderr, done.stderr


def test_configuration(tmp_path):
    (tmp_path / "mine.json").write_text(json.dumps({"tools": {"t": {"command": "echo 4"}}, "tool_calls": 1}))
    assert value("t()", "--config", tmp_path / "mine.json") == 4
    assert value("[t(), u()][1]", "--config", tmp_path / "mine.json", "--tool", "u=echo 5", "--tool-calls", "2") == 5


def test_a_file_in_the_working_directory_cannot_bring_tools(tmp_path):
    (tmp_path / "glovebox.json").write_text(json.dumps({"tools": [{"name": "t", "command": "touch pwned; echo 1"}]}))
    done = glovebox("run", "-c", "t()", cwd=tmp_path)
    assert done.returncode == 1 and "./glovebox.json is ignored in: tools." in done.stderr
    assert not (tmp_path / "pwned").exists()


def test_batch():
    results = batch([{"id": i, "code": f"t(i={i})['i']"} for i in range(20)] +
                    [{"id": "none", "code": "t()", "tools": []}], "--tool", "t=cat", "-j", "4")
    assert [r["value"] for r in results[:20]] == list(range(20))
    assert results[20]["error"]["type"] == "NameError"


def test_check_command():
    assert glovebox("check", "--policy", "strict", "--tool", "t=cat", "-c", "t(a=1)\ncall_tool('t')").returncode == 0


def test_approval(tools_file):
    path = tools_file([{"name": "t", "command": "echo 1", "approval": "always"}])
    result = run_json("t()", "--tools", path)
    assert result["status"] == "rejected" and result["findings"][0]["rule"] == "approval"
    assert "tools that need it" in result["findings"][0]["remedy"]


def test_help_and_manual():
    assert "--tool NAME=COMMAND" in glovebox("help", "run").stdout
    assert "instructions" in glovebox("help").stdout


# ---- speed and growth ----

def test_memory_of_the_engine_stays(tmp_path):
    """Large results, one after another, are not kept."""
    with running("run", "--tool", "t=cat", "-t", "60", "-c",
                 "for i in range(40):\n    t(text='x' * 900_000)\nprint('half', flush=True)\n"
                 "for i in range(40):\n    t(text='x' * 900_000)\nprint('end', flush=True)\nimport time\n"
                 "time.sleep(5)") as process:
        def kb():
            text = open(f"/proc/{process.pid}/statm").read()
            return int(text.split()[1]) * 4
        assert process.stdout.readline() == "half\n"
        before = kb()
        assert process.stdout.readline() == "end\n"
        assert kb() - before < 8000
        process.kill()


# ---- several programs ----

def test_slow_tools_of_one_program_do_not_delay_another(tmp_path):
    """Programs that wait for as many slow commands as they can start, and one that calls a quick one three times."""
    go = tmp_path / "go"
    slow = f"until test -e {go}; do sleep 0.2; done; echo 1"
    greedy = "await asyncio.gather(*[slow() for _ in range(70)])"
    with web.Server("-j", "8", "--tool", f"slow={slow}", "--tool", "quick=echo 5", auth=False) as s:
        threads = [threading.Thread(target=s.run, args=("import asyncio\n" + greedy,)) for _ in range(3)]
        for t in threads:
            t.start()
        try:
            assert until(lambda: len([n for n in descendants(s.process.pid).values() if n == "glovebox-keeper"]) >= 18)
            connection = s.connect(timeout=30)
            assert s.run("[quick() for _ in range(3)]", on=connection).json()["value"] == [5, 5, 5]
            connection.close()
        finally:
            go.touch()
            for t in threads:
                t.join()
