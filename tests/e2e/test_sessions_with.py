"""Sessions together with the rest: tools, rich output, files and mounts, cell by cell."""
import json
import os
import shlex
import tempfile
import time
from pathlib import Path

import pytest
from box import PYTHON
from test_sessions import LEVELS, engine

SLOW = "import json, sys, time; a = json.load(sys.stdin); time.sleep(a.get('s', 0)); " \
       "print(json.dumps({'got': a}))"
BIG = "print('\"' + 'x' * 3000000 + '\"')"
TOOLS = [{"name": "echo", "parameters": {"type": "object"}, "command": f"{PYTHON} -c {shlex.quote(SLOW)}"},
         {"name": "big", "command": f"{PYTHON} -c {shlex.quote(BIG)}"}]


@pytest.fixture
def tmp_path():
    """One that everybody may enter: root's programs are nobody."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


@pytest.fixture(params=LEVELS)
def level(request):
    return request.param


@pytest.fixture
def e(level, tmp_path):
    with engine(level, config={"tools": TOOLS}, tmp=tmp_path) as made:
        yield made


# ---- tools ----

def test_each_cell_can_call(e):
    assert e.value("echo(a=1)") == {"got": {"a": 1}}
    second = e.cell("f = lambda n: [call_tool('echo', n=i)['got']['n'] for i in range(n)]\nf(5)")
    assert second["value"] == [0, 1, 2, 3, 4]
    assert [call["ok"] for call in second["tool_calls"]] == [True] * 5
    assert e.value("f(3)") == [0, 1, 2], "a function of an earlier cell calls for this one"
    assert e.cell("1")["tool_calls"] == []


def test_a_loop_in_every_cell(e):
    code = "import asyncio\nr = await asyncio.gather(*(echo(n=i) for i in range(20)))\n" \
           "[x['got']['n'] for x in r]"
    for _ in range(3):
        assert e.value(code) == list(range(20))


def test_a_loop_that_lives_on(e):
    e.value("import asyncio, threading\nloop = asyncio.new_event_loop()\n"
            "threading.Thread(target=loop.run_forever, daemon=True).start()\n"
            "async def ask(n): return (await echo(n=n))['got']['n']\n"
            "def there(n): return asyncio.run_coroutine_threadsafe(ask(n), loop).result(10)\nNone")
    for n in range(4):
        assert e.value(f"there({n})") == n


def test_an_answer_that_comes_too_late(e):
    """It is for a cell that is over: whoever waits is told, and the next cell's request is its own."""
    e.value("import threading, queue\nheard = queue.Queue()\n"
            "def wait():\n    try: heard.put(echo(s=0.3))\n    except Exception as e: heard.put(repr(e))\n"
            "threading.Thread(target=wait, daemon=True).start()\nimport time; time.sleep(0.1)")
    assert "Gone" in e.value("heard.get(timeout=5)")
    time.sleep(0.4)
    assert e.value("echo(a=2)") == {"got": {"a": 2}}


def test_answers_that_nobody_reads(e):
    """What a cell leaves unread goes with it, half a frame or many."""
    unread = "import threading, time\n" \
             "class Stop(Exception): pass\n" \
             "import signal\n" \
             "def stop(*a): raise Stop\n" \
             "signal.signal(signal.SIGALRM, stop)\nsignal.setitimer(signal.ITIMER_REAL, 0.5)\n" \
             "import asyncio\n" \
             "async def main():\n" \
             "    for _ in range(3): asyncio.ensure_future(big())\n" \
             "    await asyncio.sleep(0)\n    await asyncio.sleep(0)\n" \
             "    time.sleep(5)\n" \
             "try: asyncio.run(main())\nexcept Stop: pass\n1"
    for _ in range(2):
        assert e.value(unread) == 1
        assert e.value("len(big()), echo(a=3)['got']['a']") == [3000000, 3]


def test_a_kill_in_the_middle_of_a_call(e):
    e.value("x = 1\nNone")
    killed = e.cell("x = 2\necho(s=30)", timeout=0.5)
    assert (killed["status"], killed["session"]["state"]) == ("timeout", "rolled_back")
    assert not killed["tool_calls"][0]["ok"]
    assert e.value("x, echo(a=1)['got']['a']") == [1, 1]


def test_a_cell_without_tools(e):
    e.value("echo(a=1)")
    refused = e.cell("echo(a=1)", tools=[])
    assert refused["error"]["type"] == "ToolError" and "Gone" in refused["error"]["message"]
    assert e.value("echo(a=4)") == {"got": {"a": 4}}


def test_rewound_and_forked_sessions_call(e):
    e.value("x = 1\necho(a=1)")
    e.value("x = 2\necho(a=2)")
    assert e.op("rewind")["status"] == "ok"
    assert e.value("x, echo(a=3)['got']['a']") == [1, 3]
    assert e.op("fork", into="t")["status"] == "ok"
    assert e.value("x += 1; x, echo(a=4)['got']['a']", "t") == [2, 4]
    assert e.value("x, echo(a=5)['got']['a']") == [1, 5]


def test_forked_processes_of_a_cell(e):
    """One that comes to the end of its cell ends there."""
    assert e.value("import os\npid = os.fork()\nif pid: os.waitpid(pid, 0)\n'x'") == "x"
    assert e.value("echo(a=1)") == {"got": {"a": 1}}


def test_inspect_tells_of_the_sessions_own_names(e):
    e.value("mine = 1\nNone")
    names = [n["name"] for n in e.op("inspect")["value"]["contents"]["names"]]
    assert names == ["mine"]


# ---- rich output ----

def test_display_belongs_to_its_cell(e):
    html = "class H:\n    def _repr_html_(self): return '<b>%s</b>' % x\nx = 1\ndisplay(H())"
    first = e.cell(html)
    assert [it["mime"] for it in first["outputs"]].count("text/html") == 1
    second = e.cell("x = 2\nH()")
    assert [it["mime"] for it in second["outputs"]].count("text/html") == 1
    assert e.cell("None")["outputs"] == []


def test_display_is_counted_by_the_cell(e):
    many = "for i in range(5000): display(i)"
    first = e.cell(many)
    second = e.cell(many)
    assert len(first["outputs"]) == len(second["outputs"]) > 0


def test_threads_display_in_a_cell_or_not_at_all(e):
    e.value("import threading, time\ndef show():\n    while True:\n        display(7); time.sleep(0.001)\n"
            "threading.Thread(target=show, daemon=True).start()\ntime.sleep(0.05)")
    for _ in range(10):
        result = e.cell("time.sleep(0.02)")
        assert (result["status"], result["session"]["state"]) == ("ok", "intact")
    assert len(result["outputs"]) > 0


def test_a_killed_cell_keeps_what_it_had_displayed(e):
    e.value("1")
    killed = e.cell("display('before')\nwhile True: pass", timeout=0.4)
    assert killed["session"]["state"] == "rolled_back" and len(killed["outputs"]) == 1


# ---- files ----

def changes(result, mount="workspace"):
    return {f["path"]: f.get("omitted", f["change"]) for f in result["files"] if f["mount"] == mount}


def test_files_by_the_cell(e):
    assert changes(e.cell("open('a', 'w').write('1')\nimport os\nos.mkdir('d')\nopen('d/b', 'w').close()")) \
        == {"a": "created", "d/b": "created"}
    assert changes(e.cell("1")) == {}
    assert changes(e.cell("open('a', 'a').write('2')\nos.remove('d/b')")) \
        == {"a": "modified", "d/b": "deleted"}
    assert changes(e.cell("os.remove('a')")) == {"a": "deleted"}
    assert changes(e.cell("1")) == {}


def test_content_of_files(e):
    result = e.cell("open('a', 'w').write('text')", capture="inline")
    assert result["files"][0]["text"] == "text"


def test_files_of_a_killed_cell(e):
    e.value("1")
    killed = e.cell("open('a', 'w').write('1')\nwhile True: pass", timeout=0.4)
    assert changes(killed) == {"a": "created"}, "only memory is taken back"
    assert changes(e.cell("1")) == {}


def test_a_session_keeps_its_files_shut(e, level):
    """It goes on using them: nothing of it is changed by being looked at. (At landlock the watcher opens
    directories, to count what is in them.)"""
    e.value("import os\nos.mkdir('shut', 0)\nos.close(os.open('y', os.O_CREAT | os.O_WRONLY, 0))\nNone",
            capture="inline")
    shut, y = e.value("[os.stat(n).st_mode & 0o777 for n in ('shut', 'y')]")
    assert y == 0 and (shut == 0 or level == "landlock")


def test_files_are_given_to_cells(e):
    first = e.cell("open('a').read()", files={"a": "one", "b/c": "two"})
    assert first["value"] == "one" and changes(first) == {}
    second = e.cell("open('a').read() + open('b/c').read()", files={"a": "three"})
    assert second["value"] == "threetwo" and changes(second) == {}
    assert changes(e.cell("open('a', 'w').write('x')")) == {"a": "modified"}


def test_a_hostile_workspace(e, tmp_path):
    """Links that the session lays out lead nowhere."""
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "a").write_text("mine")
    e.value(f"import os\nos.symlink({str(victim)!r}, 'd')\nos.symlink({str(victim / 'a')!r}, 'l')\nNone")
    into = e.cell("1", files={"d/a": "theirs"})
    assert into["status"] == "failed" and into["session"]["state"] == "intact"
    assert e.value("os.path.islink('l')", files={"l": "theirs"}) is False
    assert (victim / "a").read_text() == "mine"


def test_forks_and_files(e):
    e.value("open('a', 'w').write('1')\nNone")
    assert e.op("fork", into="t")["status"] == "ok"
    assert e.value("open('a').read()", "t") == "1"
    assert e.value("open('b').read()", "t", files={"b": "x"}) == "x", "they can be given files"
    made = e.cell("open('c', 'w').write('1'); open('a', 'w').write('22')", "t")
    assert changes(made) == {"a": "modified", "c": "created"}
    assert e.op("read_file", "t", path="a")["value"]["text"] == "22"
    assert e.op("read_file", "s", path="a")["value"]["text"] == "1"
    assert [it["path"] for it in e.op("list_files", "s")["value"]["files"]] == ["a"]
    assert e.op("write_file", "t", files={"a": "333"})["status"] == "ok"
    assert e.value("open('a').read()", "t") == "333" and e.value("open('a').read()", "s") == "1"
    assert e.op("fork", "t", into="u")["status"] == "ok"
    assert changes(e.cell("open('d', 'w').close()", "u")) == {"d": "created"}, "a fork's fork as well"
    assert e.op("read_file", "u", path="a")["value"]["text"] == "333"
    assert e.value("import os\nos.environ['TMPDIR'] == os.environ['HOME'] or "
                   "open(os.environ['TMPDIR'] + '/x', 'w').write('1')", "t") == 1


# ---- mounts ----

def test_mounts_stay(level, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "f").write_text("seed")
    with engine(level, config={"mounts": [f"{data}:data"]}, tmp=tmp_path) as e:
        read = "import os\nopen(os.environ['GLOVEBOX_MNT'] + '/data/f').read()"
        assert e.value(read) == "seed"
        assert e.value(read) == "seed"
        assert e.op("fork", into="t")["status"] == "ok"
        assert e.value(read, "t") == "seed"
        other = e.cell("1", mounts=[])
        assert other["status"] == "failed" and "mounts" in other["error"]["message"]


# ---- the check ----

def test_strict_imports_nothing_of_the_workspace():
    with engine("namespaces", "--policy", "strict", "--allow-import", "mine") as e:
        written = e.cell("1", files={"mine.py": "x = 1"})
        assert written["status"] == "ok"
        assert e.cell("import mine")["status"] != "ok"


def test_approval_is_asked_for_each_cell():
    with engine("namespaces", "--approve", "always") as e:
        assert e.cell("1")["status"] == "rejected"


def test_audit_and_timings(tmp_path):
    """Each cell is recorded as a run is, with its session; so are requests about it."""
    log = tmp_path / "audit.jsonl"
    with engine("namespaces", "--audit", str(log), "--tool", "echo=cat") as e:
        first = e.cell("import time\ntime.sleep(.02)\necho(a=1)['a']")
        e.op("list_files")
        e.cell("import os\nos._exit(1)")
    assert first["value"] == 1 and first["timings"]["run_ms"] > 20 and first["timings"]["check_ms"] > 0
    events = [json.loads(line) for line in log.read_text().splitlines()]
    admitted = [it for it in events if it["event"] == "admitted"]
    assert [it["session"] for it in admitted] == ["s"] * 3
    mine = [it["event"] for it in events if it.get("run") == admitted[0]["run"]]
    assert mine == ["admitted", "checked", "started", "tool_called", "finished"]
