"""Tools that an embedding program answers by callback: tests/e2e/tools.c is that program.
Numbers are those of the reference's intents."""
import json

import pytest
from box import ROOT, compile_c, run_program

NAMES = ["echo", "none", "later", "hang", "fail", "odd_error", "deep", "deepest", "digits",
         "surrogate", "nul", "nul_key", "nonsense", "not_utf8", "huge", "large", "items", "change"]
TOOLS = [{"name": name} for name in NAMES]


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    return compile_c(ROOT / "tests/e2e/tools.c", tmp_path_factory.mktemp("tools") / "tools")


class Told:
    """What the program printed: lines of a word and the rest."""

    def __init__(self, done):
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        self.lines = [line.partition(" ")[::2] for line in done.stdout.splitlines()]
        assert self.of("no-children") == ["1"]

    def of(self, word):
        return [text for name, text in self.lines if name == word]

    @property
    def results(self):
        return [json.loads(text) for text in self.of("result")]


@pytest.fixture(params=["namespaces", "landlock"])
def level(request):
    return request.param


@pytest.fixture
def run(program, level):
    def run_all(*requests, tools=TOOLS, leave=False, **config):
        config = {"tools": tools, "isolation": level, **config}
        texts = [json.dumps({"code": r} if isinstance(r, str) else r) for r in requests]
        return Told(run_program(program, json.dumps(config), *texts, *(["--leave"] if leave else [])))
    return run_all


@pytest.fixture
def value(run):
    def one(code, **config):
        result = run(code, **config).results[0]
        assert result["status"] == "ok", (result["error"], result["stderr"])
        return result["value"]
    return one


# ---- values ----

@pytest.mark.parametrize("code, expected", [
    ("echo(a=2, b=[1, 2.5, None, True, 'é', {}])", {"a": 2, "b": [1, 2.5, None, True, "é", {}]}),
    ("call_tool('echo', name='n', self=1)", {"name": "n", "self": 1}),  # 65, 123
    ("await echo(a=2)", {"a": 2}),  # 64, 122, 140, 204
    ("await call_tool('echo', a=4)", {"a": 4}),  # 141
    ("type(echo()).__name__", "dict"),  # 212
    ("none() is None", True),
    ("call_tool('none')", None),
    ("import asyncio\nawait asyncio.gather(echo(a=1), call_tool('echo', a=2))", [{"a": 1}, {"a": 2}]),  # 66
    ("import asyncio\nasync def f():\n    return await echo(a=1)\nasyncio.run(f())", {"a": 1}),
    ("import asyncio\nasync def f():\n    async with asyncio.TaskGroup() as g:\n"
     "        t = [g.create_task(echo(i=i)) for i in range(3)]\n    return [x.result()['i'] for x in t]\n"
     "asyncio.run(f())", [0, 1, 2]),
    # an event loop in one thread leaves the others alone
    ("import asyncio\nasync def f():\n    return await asyncio.to_thread(lambda: echo(a=1))\n"
     "asyncio.run(f())", {"a": 1}),
    ("import asyncio\nvalues = [echo(i=1)]\nasync def f():\n    return await echo(i=2)\n"
     "values.append(asyncio.run(f()))\nvalues.append(asyncio.run(f()))\nvalues.append(echo(i=3))\n"
     "[v['i'] for v in values]", [1, 2, 2, 3]),
    ("from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(8) as pool:\n"
     "    got = list(pool.map(lambda i: echo(i=i)['i'], range(500)))\ngot == list(range(500))", True),
    ("echo(text='x' * 900_000)['text'] == 'x' * 900_000", True),
    ("len(large())", 8_000_000),
    ("deep = deepest()\nn = 0\nwhile deep: deep, n = deep[0], n + 1\nn", 98),
    ("nul()", "a\0b"),
    ("echo.__doc__.splitlines()[0]", "echo(**more: Any) -> Any"),
])
def test_values(value, code, expected):
    assert value(code) == expected


def test_no_tools_no_names(value):
    """124: a function that there is not is a NameError, call_tool too."""
    assert value("try:\n    call_tool('x')\nexcept NameError as e:\n    r = str(e)\nr", tools=[]) \
        == "name 'call_tool' is not defined"


@pytest.mark.parametrize("code, said", [
    # 94, 127, 146: catchable, and lists what there is
    ("call_tool('nope')", "UnknownTool: there is no tool 'nope'; there are: echo, fail"),
    ("await call_tool('nope')", "UnknownTool: there is no tool 'nope'; there are: echo, fail"),
    ("call_tool('')", "UnknownTool: there is no tool ''; there are: echo, fail"),
    ("fail()", "KeyError: no such customer"),  # 95, 214
    ("await fail()", "KeyError: no such customer"),
    ("call_tool()", "call_tool() takes the tool's name"),
    ("call_tool('echo', 1)", "call_tool() takes the tool's name"),
    ("call_tool(7)", "call_tool() takes the tool's name"),
    ("echo(1)", "echo() takes keyword arguments only"),
    ("echo(x={1})", "echo(): the argument 'x' is not JSON"),
    ("echo(x=float('nan'))", "echo(): the argument 'x' is not JSON"),
    ("echo(x=1 << 70)", "echo(): the argument 'x' is not JSON"),
    ("echo(x='\\ud800')", "echo(): the argument 'x' is not JSON"),
    ("echo(x={1: 2})", "echo(): the argument 'x' is not JSON"),
    ("await echo(x=object())", "echo(): the argument 'x' is not JSON"),
    ("x = []\nx.append(x)\necho(x=x)", "echo(): the argument 'x' is not JSON"),
    ("echo(x='x' * (1 << 20))", "the arguments are more than"),
    ("echo(x=list(range(300_000)))", "the arguments are more than"),
])
def test_errors(run, code, said):
    done = run(f"print('before')\n{code}", tools=[{"name": "echo"}, {"name": "fail"}])
    result = done.results[0]
    assert result["status"] == "error" and said in result["error"]["message"], result["error"]
    assert result["stdout"] == "before\n"
    calls = [call["name"] for call in result["tool_calls"]]
    assert calls == (["fail"] if "fail()" in code else []), "nothing was sent that could not be meant"


def test_error_is_an_exception(value):
    assert value("try:\n    fail()\nexcept ToolError as e:\n    r = [e.type, e.message, str(e),"
                 " isinstance(e, RuntimeError)]\nr") == [
        "KeyError", "no such customer", "KeyError: no such customer", True]
    assert value("try:\n    call_tool('x')\nexcept ValueError as e:\n    r = type(e).__name__\nr") \
        == "UnknownToolError"
    assert value("import pickle\ntry:\n    fail()\nexcept ToolError as e:\n"
                 "    r = str(pickle.loads(pickle.dumps(e)))\nr") == "KeyError: no such customer"
    assert value("try:\n    odd_error()\nexcept ToolError as e:\n    r = [e.type, e.message]\nr") == ["??", ""]


def test_error_has_the_line_of_the_call(run):
    error = run("x = 1\nfail()").results[0]["error"]
    assert (error["type"], error["line"]) == ("ToolError", 2)


# ---- schemas ----

ADD = {"name": "echo", "parameters": {"type": "object", "required": ["a"], "additionalProperties": False,
                                      "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", "y"]}}}}


@pytest.mark.parametrize("arguments, said", [
    ("a='1'", "a must be integer, not string"),
    ("", "'a' is missing"),
    ("a=1, b='z'", 'b must be one of ["x","y"]'),
    ("a=1, c=1", "'c' is not known"),
])
def test_arguments_are_checked_before_the_host_runs_anything(run, arguments, said):
    """144: no invocation at all."""
    done = run(f"try:\n    echo({arguments})\nexcept ToolError as e:\n    r = [e.type, e.message]\nr", tools=[ADD])
    assert done.results[0]["value"] == ["InvalidArguments", said]
    assert done.of("call") == []
    assert [(c["ok"], c["error"]) for c in done.results[0]["tool_calls"]] == [(False, "InvalidArguments")]


# ---- hostile and broken results ----

@pytest.mark.parametrize("tool, said", [
    ("deep", "is not JSON: maximum parsing depth"),
    ("digits", "is not JSON"),
    ("surrogate", "is not JSON"),
    ("nul_key", "is not JSON"),
    ("nonsense", "is not JSON"),
    ("not_utf8", "is not JSON"),
    ("huge", "has 100000000 bytes; 8 MiB are the most"),
    ("items", "too many items"),
])
def test_results_that_are_none(run, tool, said):
    done = run(f"try:\n    {tool}()\nexcept ToolError as e:\n    r = [e.type, e.message]\nr + [echo(a=1)['a']]")
    kind, message, after = done.results[0]["value"]
    assert kind == "InvalidResult" and said in message and after == 1
    assert done.of("answered") == ["-1"]


def test_results_that_nobody_reads_are_bounded(run):
    """40 results of 8 MB to a program that does not read one until all are there."""
    code = """import asyncio, time
tasks = [asyncio.ensure_future(large()) for _ in range(40)]
await asyncio.sleep(0)
time.sleep(1)
done = await asyncio.gather(*tasks, return_exceptions=True)
[sum(isinstance(d, str) for d in done), sorted({e.type for e in done if isinstance(e, ToolError)})]"""
    good, errors = run({"code": code, "limits": {}}, memory="1G").results[0]["value"]
    assert 1 <= good <= 40 and errors in ([], ["TooMuchUnread"])


# ---- side by side ----

def test_gathered_calls_run_side_by_side(run):
    """137, 143, 205; 100 tools of 100 ms: well under a second."""
    code = """import asyncio, time
began = time.monotonic()
got = await asyncio.gather(*[later(i=i) for i in range(100)])
[[g['i'] for g in got] == list(range(100)), time.monotonic() - began]"""
    done = run(code)
    ordered, took = done.results[0]["value"]
    assert ordered and took < 0.9
    assert len(done.of("call")) == 100


def test_ten_thousand_calls(run, monkeypatch):
    code = "n = 0\nfor i in range(10_000):\n    n += echo(i=i)['i']\nn"
    result = run({"code": code}).results[0]
    assert result["value"] == sum(range(10_000))
    assert len(result["tool_calls"]) == 200 and result["tool_calls_omitted"] == 9_800
    assert all(set(call) == {"name", "ok", "ms"} and call["ok"] for call in result["tool_calls"])


def test_thousands_at_once(value):
    assert value("import asyncio\ngot = await asyncio.gather(*[later(i=i) for i in range(3000)])\n"
                 "[g['i'] for g in got] == list(range(3000))") is True


def test_more_than_may_be_under_way(value):
    code = """import asyncio
tasks = [asyncio.ensure_future(hang(i=i)) for i in range(10_050)]
await asyncio.sleep(3)
failed = [t for t in tasks if t.done()]
for t in tasks: t.cancel()
[len(failed), {t.exception().type for t in failed}.pop()]"""
    assert value(code) == [50, "TooManyCalls"]


def test_calls_are_counted(run):
    code = "n = 0\ntry:\n    while True:\n        echo()\n        n += 1\nexcept ToolError as e:\n    r = e.type\n[n, r]"
    assert run({"code": code, "limits": {"tool_calls": 5}}).results[0]["value"] == [5, "TooManyCalls"]
    assert run(code, tool_calls=7).results[0]["value"] == [7, "TooManyCalls"]
    refused = run({"code": code, "limits": {"tool_calls": 8}}, tool_calls=7).results[0]
    assert refused["status"] == "failed" and "limits.tool_calls" in refused["error"]["message"]


# ---- giving up ----

def test_wait_for_that_expires(run):
    """446: the call is cancelled on the host, and the next one is right."""
    code = """import asyncio
try:
    await asyncio.wait_for(hang(n=1), 0.05)
except asyncio.TimeoutError:
    first = 'late'
[first, (await echo(n=2))['n']]"""
    done = run(code)
    assert done.results[0]["value"] == ["late", 2]
    assert done.of("cancelled") == [' {"n":1}']
    assert done.of("late-answer") == [" cancelled"], "an answer that comes too late is dropped"
    assert [c.get("error") for c in done.results[0]["tool_calls"]] == ["Cancelled", None]


def test_answer_that_comes_after_the_wait(value):
    """The late answer of the first is not taken for that of the second."""
    code = """import asyncio
try:
    await asyncio.wait_for(later(n=1), 0.02)
except asyncio.TimeoutError:
    pass
(await later(n=2))['n']"""
    assert value(code) == 2


def test_signal_ends_a_call(run):
    code = """import signal
def stop(*_): raise TimeoutError('enough')
signal.signal(signal.SIGALRM, stop)
signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    hang(n=1)
except TimeoutError as e:
    r = str(e)
[r, echo(n=2)['n']]"""
    done = run(code)
    assert done.results[0]["value"] == ["enough", 2]
    assert done.of("cancelled") == [' {"n":1}']


@pytest.mark.parametrize("code", [
    "hang(n=1)",
    "await hang(n=1)",
    "import threading\nt = [threading.Thread(target=hang, kwargs={'n': i}) for i in range(4)]\n"
    "[x.start() for x in t]\n[x.join() for x in t]",
])
def test_run_that_ends_in_a_call(run, code):
    """The clock goes on while a tool works; what was printed is there, and the host is told."""
    done = run({"code": f"print('working', end='')\n{code}", "timeout": 0.5})
    result = done.results[0]
    assert (result["status"], result["stdout"]) == ("timeout", "working")
    n = 4 if "threading" in code else 1
    assert len(done.of("cancelled")) == n and done.of("late-answer") == [" cancelled"] * n
    assert [call["error"] for call in result["tool_calls"]] == ["Cancelled"] * n


def test_program_that_does_not_wait(run):
    code = "import asyncio\nt = asyncio.ensure_future(hang(n=1))\nawait asyncio.sleep(0.05)\n'over'"
    done = run(code)
    assert done.results[0]["value"] == "over"
    assert done.of("cancelled") == [' {"n":1}']


def test_daemon_threads_at_the_end(run):
    """Threads in the middle of calls do not spoil the answer."""
    code = """import threading, time
def loop():
    while True: echo(text='x' * 50_000)
for _ in range(4): threading.Thread(target=loop, daemon=True).start()
time.sleep(0.2)
'over'"""
    result = run(code).results[0]
    assert (result["status"], result["value"]) == ("ok", "over")


def test_call_from_an_exit_handler(run):
    result = run("import atexit\natexit.register(lambda: print(echo(n=3)['n']))\n1").results[0]
    assert (result["value"], result["stdout"]) == (1, "3\n")


def test_engine_freed_in_a_call(run):
    done = run("hang(n=1)", leave=True)
    assert done.results[0]["status"] == "cancelled"
    assert done.of("cancelled") == [' {"n":1}']


def test_tool_with_a_timeout_of_its_own(run):
    code = "try:\n    hang()\nexcept ToolError as e:\n    r = [e.type, e.message]\nr + [echo(a=1)['a']]"
    done = run(code, tools=[{"name": "hang", "timeout": 0.1}, {"name": "echo"}])
    assert done.results[0]["value"] == ["Timeout", "the tool took longer than 0.1 s", 1]
    assert done.of("late-answer") == [" cancelled"]


# ---- children of the program ----

def test_children_cannot_call(value):
    code = """import os
r, w = os.pipe()
if os.fork() == 0:
    try:
        echo(a=1)
    except ToolError as e:
        os.write(w, str(e).encode())
    os._exit(0)
os.wait()
[os.read(r, 1000).decode(), echo(a=2)['a']]"""
    said, after = value(code)
    assert said.startswith("ForkedProcess: tools can be called from the program's own process only")
    assert after == 2


def test_pool_of_processes(value):
    """A forked worker's attempt is an exception there, and the parent's calls go on."""
    code = """import os
def work(i):
    r, w = os.pipe()
    if os.fork() == 0:
        try:
            call_tool('echo', i=i)
            os.write(w, b'escaped')
        except ToolError as e:
            os.write(w, e.type.encode())
        os._exit(0)
    os.wait()
    return os.read(r, 100).decode()
[[work(i), echo(i=i)['i']] for i in range(3)]"""
    assert value(code) == [["ForkedProcess", i] for i in range(3)]


# ---- which tools ----

def test_run_keeps_the_tools_it_began_with(run):
    """87, 104, 160, 194, 225: the registry changes in the middle; a later run sees it."""
    done = run({"id": 1, "code": "change()\n[echo(a=1)['a'], 'fresh' in globals()]"})
    assert done.results[0]["value"] == [1, False]
    assert (done.of("removed"), done.of("added"), done.of("replaced")) == (["0"], ["0"], ["0"])
    tools = json.loads(done.of("tools")[0])
    names = [tool["name"] for tool in tools]
    assert "echo" not in names and names[-1] == "fresh" and len(set(names)) == len(names)
    assert [tool["approval"] for tool in tools if tool["name"] == "none"] == ["always"]


def test_each_cell_has_the_tools_of_its_request(run):
    """As they were when it was asked for: the second was, before the first began."""
    done = run({"id": 1, "session": "s", "code": "change()\nx = echo(a=1)['a']\nx"},
               {"id": 2, "session": "s", "code": "[x, 'fresh' in globals(), echo(a=2)['a']]"},
               {"id": 3, "session": "s", "code": "echo(a=3)", "tools": ["later"]})
    by_id = {r["id"]: r for r in done.results}
    assert [by_id[i]["value"] for i in (1, 2)] == [1, [1, False, 2]], by_id
    assert [c["name"] for c in by_id[2]["tool_calls"]] == ["echo"]
    assert "there is no tool 'echo'; there are: later" in by_id[3]["error"]["message"]


def test_request_narrows(run):
    done = run({"id": "a", "code": "[echo()] + ['later' in globals()]", "tools": ["echo"]},
               {"id": "b", "code": "call_tool('later')", "tools": ["echo"]},
               {"id": "c", "code": "call_tool('later')", "tools": []},
               {"id": "d", "code": "1", "tools": ["nope"]},
               {"id": "e", "code": "1", "tools": "echo"})
    by_id = {r["id"]: r for r in done.results}
    assert by_id["a"]["value"] == [{}, False]
    assert "there is no tool 'later'; there are: echo" in by_id["b"]["error"]["message"]
    assert by_id["c"]["error"]["type"] == "NameError"
    assert "tools: there is no tool 'nope'; there are: echo, none" in by_id["d"]["error"]["message"]
    assert by_id["e"]["error"]["message"].startswith("tools: ")


def test_names(value):
    """A tool hides no builtin, and a request's input hides a tool; call_tool reaches all of them."""
    tools = [{"name": n} for n in ("echo", "open", "print", "my-tool", "class", "call_tool", "a b", "é")]
    code = """import builtins
def failed(name):
    try:
        call_tool(name)
    except ToolError as e:
        return e.type
[open is builtins.open, print is builtins.print, {failed(n) for n in
 ('open', 'print', 'my-tool', 'class', 'call_tool', 'a b', 'é')} == {'NotImplementedError'}]"""
    assert value(code, tools=tools) == [True, True, True]


def test_input_hides_a_tool(run):
    result = run({"code": "[echo, call_tool('echo', a=1)['a']]", "inputs": {"echo": "mine"}}).results[0]
    assert result["value"] == ["mine", 1]


# ---- policy, approval, audit ----

def test_strict_policy(run):
    result = run({"code": "import asyncio\ntry:\n    fail()\nexcept ToolError as e:\n    r = str(e)\n"
                          "[r, echo(a=1), call_tool('echo', b=2)]", "policy": "strict"}).results[0]
    assert result["value"] == ["KeyError: no such customer", {"a": 1}, {"b": 2}], result["findings"]


def test_approval_bundles(run):
    """57, 101, 157, 159, 220: one tool that needs a yes, and the whole run does; narrowed, it does not."""
    tools = [{"name": "echo", "approval": "never"}, {"name": "fail", "approval": "always"}]
    done = run({"id": "both", "code": "echo(a=1)"}, tools=tools)
    question = json.loads(done.of("question")[0])
    assert (question["tools"], question["tools_to_approve"]) == (["echo", "fail"], ["fail"])
    assert done.results[0]["value"] == {"a": 1}
    done = run({"id": "one", "code": "echo(a=1)", "tools": ["echo"]}, tools=tools)
    assert done.of("question") == [] and done.results[0]["value"] == {"a": 1}
    done = run("1", tools=tools, approve="never", acknowledge_unsafe=True)
    assert len(done.of("question")) == 1, "what a tool asks for is not answered by configuration"
    done = run("1", tools=tools[:1], approve="always")
    assert len(done.of("question")) == 1, "58, 102: what is always asked stays asked"


def test_audit(run, tmp_path):
    log = tmp_path / "audit.jsonl"
    run("echo(secret='hunter2')\ntry:\n    fail()\nexcept ToolError: pass", audit=str(log))
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert [e["tool"] for e in events if e["event"] == "tool_called"] == ["echo", "fail"]
    finished = next(e for e in events if e["event"] == "finished")
    assert finished["tool_calls"] == {"total": 2, "failed": 1}
    assert "hunter2" not in log.read_text() and "customer" not in log.read_text()


def test_calls_are_listed(run):
    calls = run("echo()\ntry:\n    fail()\nexcept ToolError: pass").results[0]["tool_calls"]
    assert [(c["name"], c["ok"], c.get("error")) for c in calls] == [("echo", True, None),
                                                                     ("fail", False, "KeyError")]
    assert all(c["ms"] >= 0 for c in calls)


def test_check_knows_the_names(run):
    result = run({"kind": "check", "code": "echo(a=1)\ncall_tool('echo')", "policy": "strict"}).results[0]
    assert result["status"] == "ok" and result["tool_calls"] == []


# ---- many ----

def test_runs_do_not_see_each_other(run):
    code = "import asyncio\ngot = await asyncio.gather(*[later(who=who, i=i) for i in range(20)])\n" \
           "all(g['who'] == who for g in got)"
    done = run(*[{"id": i, "code": code, "inputs": {"who": i}} for i in range(12)], pool=4)
    assert sorted(r["id"] for r in done.results) == list(range(12))
    assert all(r["value"] is True for r in done.results)


# ---- frames that no runtime sends ----

FORGE = """import fcntl, os, stat, struct
for fd in range(3, 64):
    try:
        if stat.S_ISFIFO(os.fstat(fd).st_mode):
            os.write(fd, struct.pack('<IIQ', 16, 2, 12345) + b'{}')
    except OSError:
        pass
import time
time.sleep(5)"""


def test_forged_frame_ends_that_run_and_no_other(run):
    honest = "[later(i=i)['i'] for i in range(5)]"
    done = run(*[{"id": i, "code": FORGE if i % 2 else honest} for i in range(6)], pool=4)
    for result in done.results:
        if result["id"] % 2:
            assert (result["status"], result["error"]["type"]) == ("error", "ProtocolError")
            assert "a tool call that did not come from the program's own runtime" in result["error"]["message"]
            assert result["usage"]["wall_ms"] < 4000
        else:
            assert result["value"] == [0, 1, 2, 3, 4]


def test_frames_of_tools_without_tools(run):
    result = run(FORGE, tools=[]).results[0]
    assert (result["status"], result["error"]["type"]) == ("error", "ProtocolError")
