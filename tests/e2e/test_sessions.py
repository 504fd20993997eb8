"""Sessions: what stays between requests, and what a killed cell costs."""
import json
import os
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from box import ENV, PYTHON, SANITIZED, descendants, running, until

LEVELS = ["namespaces", "landlock"]


class Engine:
    """A batch that stays, and is told one request at a time, or many."""

    def __init__(self, process):
        self.process = process
        self.n = 0

    def send(self, *requests):
        """Send without waiting."""
        for request in requests:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.n += 1
        self.process.stdin.flush()

    def results(self, count):
        return [json.loads(self.process.stdout.readline()) for _ in range(count)]

    def ask(self, request):
        self.send(request)
        return self.results(1)[0]

    def cell(self, code, session="s", **more):
        return self.ask({"session": session, "code": code, **more})

    def value(self, code, session="s", **more):
        """The value of a cell that must work and change nothing but what it says."""
        result = self.cell(code, session, **more)
        assert result["status"] == "ok", (result["status"], result["error"])
        assert result["session"]["state"] in ("intact", "new")
        return result["value"]

    def op(self, op, session="s", **more):
        return self.ask({"kind": "session", "session": session, "op": op, **more})

    def processes(self):
        return len(descendants(self.process.pid))


@contextmanager
def engine(level="namespaces", *options, config=None, tmp=None):
    if config:
        path = Path(tmp, "config.json")
        path.write_text(json.dumps(config))
        options += ("--config", path)
    with running("batch", "--isolation", level, "--python", PYTHON, *options, "-", stdin=-1,
                 env=ENV) as process:
        yield Engine(process)
        process.stdin.close()
        assert process.wait(20) == 0, process.stderr.read()


@pytest.fixture(params=LEVELS)
def e(request):
    with engine(request.param, "-j", "8") as made:
        yield made


# ---- what stays ----

def test_names_stay(e):
    first = e.cell("x = 41\nimport math\ndef f(): return x + 1")
    assert first["session"] == {"name": "s", "state": "new", "cell": 1}
    second = e.cell("f(), math.floor(1.5)")
    assert second["value"] == [42, 1]
    assert second["session"] == {"name": "s", "state": "intact", "cell": 2}


def test_files_threads_and_processes_stay(e):
    e.value("f = open('a', 'w+'); f.write('one'); f.flush()\n"
            "import threading, queue, subprocess\n"
            "q, a = queue.Queue(), queue.Queue()\n"
            "def work():\n    while True: a.put(q.get() * 2)\n"
            "threading.Thread(target=work, daemon=True).start()\n"
            "p = subprocess.Popen(['cat'], stdin=-1, stdout=-1)\nNone")
    assert e.value("f.write('two'); f.seek(0); f.read()") == "onetwo"
    assert e.value("q.put(21); a.get(timeout=5)") == 42
    # A copy that held the pipe would keep cat from seeing its end.
    assert e.value("p.communicate(b'x', timeout=5)[0].decode(), p.returncode") == ["x", 0]


def test_copies_do_not_turn_up_in_wait(e):
    assert e.value("import os, signal\nseen = []\n"
                   "signal.signal(signal.SIGCHLD, lambda *a: seen.append(a))\n1") == 1
    code = "try:\n    r = os.waitpid(-1, os.WNOHANG)\nexcept ChildProcessError:\n    r = 'none'\nr, len(seen)"
    assert [e.value(code) for _ in range(12)] == [["none", 0]] * 12


def test_a_port_is_free_again():
    with engine() as e:
        e.value("import socket\ns = socket.create_server(('127.0.0.1', 8123))\nNone")
        for _ in range(50):  # at once after the last one: its copy may still be letting go
            assert e.value("s.close()\ns = socket.create_server(('127.0.0.1', 8123))\n1") == 1


def test_exception_keeps_what_the_cell_did(e):
    failed = e.cell("x = 1\nraise ValueError('no')")
    assert (failed["status"], failed["error"]["type"]) == ("error", "ValueError")
    assert e.value("x") == 1


def test_exit_ends_the_cell_only(e):
    done = e.cell("x = 2\nimport sys\nsys.exit(7)")
    assert (done["status"], done["exit_code"], done["session"]["state"]) == ("error", 7, "new")
    assert e.value("x") == 2
    assert e.cell("exit()")["status"] == "ok"
    assert e.value("x") == 2


def test_output_belongs_to_its_cell(e):
    assert e.cell("print('one', end='')")["stdout"] == "one"
    result = e.cell("import sys\nprint('two', file=sys.stderr)")
    assert (result["stdout"], result["stderr"]) == ("", "two\n")
    # What a thread prints between cells comes with the next result, and is not lost.
    e.value("import threading, time\n"
            "def late():\n    time.sleep(.2)\n    print('late', flush=True)\n"
            "threading.Thread(target=late).start()\nNone")
    time.sleep(0.5)
    assert e.cell("print('three')")["stdout"] == "late\nthree\n"


def test_standard_input_is_the_cells_own(e):
    assert e.value("import sys\nsys.stdin.readline()", stdin="a\nb\n") == "a\n"
    assert e.value("sys.stdin.read()") == ""
    assert e.value("input() + input()", stdin="k\nl\n") == "kl"


def test_tracebacks_show_lines_of_earlier_cells(e):
    e.cell("def broken(x):\n    return 1 / x")
    error = e.cell("broken(0)")["error"]
    assert error["line"] == 1
    assert 'File "cell-1.py", line 2, in broken' in error["traceback"]
    assert "return 1 / x" in error["traceback"] and "broken(0)" in error["traceback"]


def test_await_inputs_and_large_cells(e):
    assert e.value("import asyncio\nawait asyncio.sleep(0, 'slept')") == "slept"
    assert e.value("y * 2", inputs={"y": 21}) == 42
    text = "z = '" + "x" * 900_000 + "'\nlen(z)"
    assert e.value(text) == 900_000
    assert e.value("len(z) + y", stdin="k" * 300_000) == 900_021


def test_random_numbers_differ_after_going_back(e):
    e.value("import random\nNone")
    assert e.cell("import os\nrandom.random()\nos._exit(1)")["session"]["state"] == "rolled_back"
    first = e.value("random.random()")
    e.op("rewind", cell=1)
    assert e.value("random.random()") != first


# ---- what a kill costs ----

KILLS = {
    "timeout": ("while True: pass", {"timeout": 0.3}, "timeout"),
    "signal": ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", {}, "crashed"),
    "exit": ("import os\nos._exit(9)", {}, "error"),
    "memory": ("b = [bytearray(1 << 20) for _ in range(4000)]", {}, "limit"),
    "stubborn": ("import signal\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n"
                 "    except Exception: pass\nwhile True: pass", {"timeout": 0.3}, "timeout"),
    "forks": ("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
              {"timeout": 0.5}, "timeout"),
}


@pytest.mark.parametrize("kill", KILLS)
def test_a_kill_costs_one_cell(e, kill):
    code, more, status = KILLS[kill]
    e.value("x = 1\nNone")
    e.value("x = 2\nf = open('f', 'w+'); f.write('abc'); f.flush(); f.seek(1)\nNone")
    killed = e.cell("x = 3\nprint('said')\nf.read()\n" + code, **more)
    assert killed["status"] in (status, "limit"), killed["error"]
    assert killed["session"] == {"name": "s", "state": "rolled_back", "cell": 2}
    assert killed["stdout"] == "said\n", "what it had printed is kept"
    assert e.value("x") == 2
    assert e.value("f.read()") == "bc", "files are where they were"


def test_cpu_is_counted_by_the_cell():
    with engine("namespaces", "--cpu", "1") as e:
        burn = "import time\nend = time.process_time() + .4\nwhile time.process_time() < end: pass"
        for _ in range(4):
            assert e.cell(burn)["status"] == "ok"
        over = e.cell("while True: pass")
        assert (over["status"], over["limit"]) == ("limit", "cpu")
        assert over["session"]["state"] == "rolled_back"
        assert e.cell(burn)["status"] == "ok"

# What a cell leaves behind, and goes on when it has ended.
LEFT = {
    "process": "import os\nif os.fork() == 0:\n    while True: pass",
    "thread": "import threading\ndef burn():\n    while True: pass\nthreading.Thread(target=burn, daemon=True).start()",
}


@pytest.mark.parametrize("left", LEFT)
def test_processor_time_counts_between_cells(left):
    """Without a cell that would begin a new account, and without a timeout of one that would end it."""
    with engine("namespaces", "--cpu", "1") as e:
        assert e.value("kept = 1\nkept") == 1
        assert e.cell(LEFT[left])["status"] == "ok"
        assert until(lambda: not busy(e.process.pid), 60)
        assert e.value("kept") == 1


def busy(pid):
    """Whether something below this process uses a processor."""
    def ticks():
        total = 0
        for it in descendants(pid):
            try:
                total += sum(map(int, Path(f"/proc/{it}/stat").read_text().rsplit(")", 1)[1].split()[11:13]))
            except OSError:
                continue
        return total
    before = ticks()
    time.sleep(1)
    return ticks() > before + 5


def test_what_came_on_standard_input_is_not_kept():
    """Nor a request that was so long that it came as a file: the memory is the engine's."""
    with engine() as e:
        keep = "import os\nkept = globals().get('kept', []) + [os.dup(0)]\nlen(os.read(0, 1 << 24))"
        for _ in range(2):
            assert e.value(keep, stdin="x" * 4_000_000) > 0
        assert e.value("[os.fstat(it).st_blocks for it in kept]") == [0, 0]


def test_memory_is_watched_between_cells():
    """As closely as within one: many processes that each stay below the limit, for a moment."""
    with engine("namespaces", "--memory", "96M") as e:
        left = """
import os, time
if os.fork() == 0:
    time.sleep(1.5)  # the cell has ended by then
    for _ in range(12):
        if os.fork() == 0:
            held = bytearray(b"x") * (40 << 20)
            time.sleep(0.2)
            os._exit(0)
    for _ in range(12):
        os.wait()
    open("survived", "w").close()
    os._exit(0)
"""
        assert e.cell(left)["status"] == "ok"
        time.sleep(5)
        assert e.value("import os\nos.path.exists('survived')") is False



def test_processes_that_a_killed_cell_left_are_gone(e):
    e.cell("x = 1")
    before = e.processes()
    e.cell("import os, time\nfor _ in range(5):\n    if os.fork() == 0:\n        os.setsid()\n"
           "        if os.fork(): os._exit(0)\n        time.sleep(100)\nwhile True: pass", timeout=0.4)
    assert until(lambda: e.processes() <= before + 2), descendants(e.process.pid)
    assert e.value("x") == 1


def test_limits_suffice_for_the_copies(e):
    """Live data of a third of the memory, and as many processes as allowed, with all copies kept."""
    e.cell("d = bytearray(160 << 20)")
    for i in range(10):
        result = e.cell(f"d[:40 << 20] = b'{i}' * (40 << 20)")
        assert result["status"] == "ok", result["error"]
    threads = "import threading\ngo = threading.Event()\n" \
              "ts = [threading.Thread(target=go.wait) for _ in range(50)]\n" \
              "[t.start() for t in ts]; go.set(); [t.join() for t in ts]; len(ts)"
    assert e.value(threads) == 50


def test_old_copies_make_room(e):
    """Data that is rewritten by each cell would fill the memory eight times over."""
    e.cell("d = bytearray(100 << 20)")
    for i in range(1, 9):
        result = e.cell(f"d[:] = bytes([{i}]) * len(d); d[-1]")
        assert (result["status"], result["value"]) == ("ok", i), result["error"]
    left = e.op("inspect")["value"]["checkpoints"]
    assert left[-1] == 9 and len(left) < 8


def test_death_between_cells_is_told(e):
    e.value("x = 5\nimport threading, os, time\n"
            "threading.Thread(target=lambda: (time.sleep(.3), os._exit(1))).start()\nNone")
    time.sleep(0.8)
    after = e.cell("x")
    assert after["value"] == 5
    assert [f["rule"] for f in after["findings"]] == ["session"]
    assert e.cell("x")["findings"] == []


@pytest.mark.parametrize("level", LEVELS)
def test_a_thousand_cells(level):
    """Every tenth is killed, and loses only itself; nothing grows."""
    with engine(level, "-j", "1", "--pool", "2") as e:
        assert e.value("n = 0\n0") == 0
        expected, seen = 0, []
        for i in range(1, 1001):
            if i % 10 == 0:
                killed = e.cell("n += 1\nimport os\nos.kill(os.getpid(), 9)")
                assert killed["session"]["state"] == "rolled_back", i
            else:
                expected += 1
                assert e.value("n += 1\nn") == expected
            if i in (50, 1000):
                assert until(lambda: e.processes() <= 20)
                pages = Path(f"/proc/{e.process.pid}/statm").read_text().split()[1]
                about = e.op("inspect")["value"]
                seen.append((int(pages) * 4, len(about["checkpoints"])))
        assert seen[0][1] == seen[1][1] == 8
        assert seen[1][0] - seen[0][0] < (64 << 10 if SANITIZED else 4 << 10), seen


# ---- many ----

def test_sessions_do_not_see_each_other(e):
    names = [f"s{i}" for i in range(50)]
    e.send(*({"session": s, "code": f"mine = '{s}'\nopen('file', 'w').write(mine)"} for s in names))
    assert {r["session"]["state"] for r in e.results(50)} == {"new"}
    e.send(*({"session": s, "code": "mine, open('file').read(), sorted(__import__('os').listdir('.'))"}
             for s in names))
    assert [r["value"] for r in e.results(50)] == [[s, s, ["file"]] for s in names]
    assert len(e.ask({"kind": "session", "op": "list"})["value"]) == 50
    for s in names:
        e.op("close", s)
    assert e.ask({"kind": "session", "op": "list"})["value"] == []


def test_order_is_kept_and_others_go_on(e):
    e.cell("l = []")
    e.send(*({"session": "s", "code": f"l.append({i})\nl[-1]"} for i in range(30)))
    assert [r["value"] for r in e.results(30)] == list(range(30))
    assert e.value("l") == list(range(30))
    began = time.monotonic()
    e.send({"session": "s", "code": "import time\ntime.sleep(1)"},
           *({"session": f"o{i}", "code": "import time\ntime.sleep(1)"} for i in range(4)))
    assert {r["status"] for r in e.results(5)} == {"ok"}
    assert time.monotonic() - began < 4, "side by side"


# ---- going back, looking, beginning anew ----

def test_rewind(e):
    for i in range(12):
        e.cell(f"x = {i}")
    about = e.op("inspect")["value"]
    assert (about["cell"], about["checkpoints"]) == (12, list(range(5, 13)))
    back = e.op("rewind", cell=7)
    assert back["status"] == "ok" and back["value"]["cell"] == 7
    assert back["session"] == {"name": "s", "state": "intact", "cell": 7}
    assert e.value("x") == 6
    assert e.op("rewind")["value"]["cell"] == 7
    assert e.value("x") == 6
    assert e.cell("while True: pass", timeout=0.2)["session"]["state"] == "rolled_back"
    assert e.value("x") == 6

    for cell in (2, 12, 99):
        refused = e.op("rewind", cell=cell)
        assert (refused["status"], refused["error"]["type"]) == ("failed", "invalid")
        assert "cell" in refused["error"]["message"]
    assert e.value("x") == 6


def test_inspect(e):
    e.cell("import math\nn = 3\nl = list(range(1000))\nclass C: pass\nc = C()")
    result = e.op("inspect")
    contents = result["value"]["contents"]
    found = {entry["name"]: entry for entry in contents["names"]}
    assert set(found) == {"n", "l", "C", "c"} and contents["modules"] == ["math"]
    assert found["l"]["length"] == 1000 and found["l"]["bytes"] > 8000
    assert (found["n"]["type"], found["c"]["type"]) == ("int", "C")
    assert result["session"]["cell"] == 1, "looking is no cell"
    hang = "class Slow:\n    def __sizeof__(self):\n        while True: pass\nslow = Slow()"
    e.cell(hang)
    assert e.op("inspect", timeout=0.3)["status"] == "timeout"
    assert e.value("n") == 3


def test_reset_and_close(e):
    e.cell("x = 1\nopen('left', 'w').close()")
    assert e.op("reset")["value"] == {"name": "s", "existed": True}
    fresh = e.cell("import os\n'x' in globals(), os.listdir()")
    assert fresh["value"] == [False, []] and fresh["session"]["state"] == "new"
    assert e.op("close")["status"] == "ok"
    gone = e.op("inspect")
    assert (gone["status"], gone["error"]["type"]) == ("failed", "gone")
    assert e.op("close")["value"]["existed"] is False


# ---- bounds ----

def test_idle_and_life(tmp_path):
    config = {"session_idle": 0.5, "sessions_max": 2, "session_queue": 1, "pool": 1}
    with engine("namespaces", "-j", "8", config=config, tmp=tmp_path) as e:
        base = e.processes()
        e.cell("x = 1")
        assert until(lambda: e.processes() <= base + 3)
        gone = e.cell("x")
        assert (gone["status"], gone["error"]["type"]) == ("failed", "gone"), gone
        assert "idle" in gone["error"]["message"]
        assert e.cell("'x' in globals()")["value"] is False, "told once; then a new one"

        e.cell("1", "t")
        full = e.cell("1", "u")
        assert (full["status"], full["error"]["type"]) == ("failed", "busy")
        e.send(*({"session": "t", "code": "import time\ntime.sleep(.3)"} for _ in range(4)))
        kinds = [r["error"] and r["error"]["type"] for r in e.results(4)]
        assert kinds[:2] == [None, None] and "busy" in kinds[2:], kinds

    config = {"session_life": 0.6}
    with engine("namespaces", config=config, tmp=tmp_path) as e:
        for _ in range(20):
            result = e.cell("1")
            if result["status"] == "failed":
                break
            time.sleep(0.1)
        assert result["error"]["type"] == "gone" and "lived" in result["error"]["message"]


@pytest.mark.parametrize("request_, key", [
    ({"session": ""}, "session"), ({"session": 3}, "session"), ({"session": "x" * 200}, "session"),
    ({"session": "a\0b"}, "session"), ({"kind": "check", "session": "s"}, "session"),
    ({"kind": "session", "op": "nope", "session": "s"}, "op"),
    ({"kind": "session", "session": "s"}, "op"), ({"kind": "session", "op": "inspect"}, "session"),
    ({"cell": 3, "session": "s"}, "cell"), ({"op": "reset", "session": "s"}, "op"),
    ({"kind": "session", "op": "rewind", "session": "s", "cell": -1}, "cell"),
    ({"kind": "session", "op": "reset", "session": "s", "cell": 1}, "cell"),
])
def test_bad_requests_name_the_key(request_, key):
    with engine() as e:
        result = e.ask({"code": "1", **request_})
        assert (result["status"], result["error"]["type"]) == ("failed", "invalid")
        assert key in result["error"]["message"]


def test_what_was_made_stays(e):
    e.cell("x = 1", limits={"processes": 30})
    other = e.cell("x", limits={"processes": 20})
    assert (other["status"], other["error"]["type"]) == ("failed", "invalid")
    assert "processes" in other["error"]["message"]
    assert e.cell("x", limits={"processes": 30})["value"] == 1
    assert e.cell("b = bytearray(100 << 20)\nimport time\ntime.sleep(.3)",
                  limits={"processes": 30, "memory": "64M"})["limit"] == "memory"


# ---- checks ----

def test_each_cell_is_checked():
    with engine("namespaces", "--block-import", "socket") as e:
        e.cell("x = 1")
        rejected = e.cell("x = 2\nimport socket")
        assert rejected["status"] == "rejected" and rejected["findings"][0]["line"] == 2
        assert rejected["session"] == {"name": "s", "state": "intact", "cell": 1}
        syntax = e.cell("x = (")
        assert syntax["status"] == "rejected" and syntax["findings"][0]["rule"] == "syntax"
        assert e.value("x") == 1


def test_a_tainted_session_cannot_talk_the_check_over():
    """The check runs where no cell has run."""
    with engine("namespaces", "--block-import", "socket") as e:
        e.cell("import builtins, _ast\nbuiltins.compile = lambda *a, **k: None\n"
               "del _ast.Import\nimport sys\nsys.modules.clear()")
        assert e.cell("import socket")["status"] == "rejected"
        assert e.cell("1 +")["status"] == "rejected"


def test_strict_sees_earlier_cells():
    with engine("namespaces", "--policy", "strict") as e:
        assert e.cell("import math\nx = 1\ndef f():\n    return y.path")["status"] == "ok"
        assert e.cell("math.floor(x + .5)")["value"] == 1
        assert e.cell("import os as y\nf()")["status"] == "rejected"
        hidden = e.cell("\n\nopen('x')")
        assert hidden["status"] == "rejected" and hidden["findings"][0]["line"] == 3
        assert e.cell("x")["value"] == 1


def test_strict_is_refused_after_less():
    with engine() as e:
        e.cell("import os")
        refused = e.cell("1", policy="strict")
        assert (refused["status"], refused["error"]["type"]) == ("failed", "invalid")
        assert "policy" in refused["error"]["message"]
        assert e.cell("1", "other", policy="strict")["status"] == "ok"


@pytest.mark.parametrize("level", LEVELS)
def test_nothing_is_left_when_the_engine_is_killed(level):
    with running("batch", "--isolation", level, "--python", PYTHON, "-", stdin=-1) as process:
        e = Engine(process)
        e.value("import subprocess, os\np = subprocess.Popen(['sleep', '600'])\nNone")
        where = e.value("os.getcwd()")
        assert until(lambda: list(descendants(process.pid).values()).count("glovebox-copy") == 3)
        below = descendants(process.pid)
        process.kill()
        process.wait()
        assert until(lambda: not [pid for pid in below if is_living(pid)])
    assert level == "namespaces" or until(lambda: not os.path.exists(where))


def is_living(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


# ---- forks ----

def test_forks_share_nothing_from_then_on(e):
    e.value("x = [1]\nimport os\nopen('f', 'w').write('one')\nos.mkdir('d')\nos.chdir('d')\n"
            "os.symlink('../f', 'link')\nNone")
    forked = e.op("fork", into="t")
    assert (forked["status"], forked["value"]["into"]) == ("ok", "t"), forked["error"]
    e.send({"session": "s", "code": "x.append('s'); open('../f', 'w').write('S')\nx, open('link').read()"},
           {"session": "t", "code": "x.append('t'); before = open('../f').read()\n"
                                    "open('../f', 'w').write('T')\nx, before, open('link').read()"})
    first, second = e.results(2)
    assert first["value"] == [[1, "s"], "S"] and second["value"] == [[1, "t"], "one", "T"]
    assert second["session"] == {"name": "t", "state": "intact", "cell": 2}
    assert e.value("open('../f').read()", "s") == "S"
    assert e.value("import tempfile\ntempfile.mkstemp()[1] and 1", "t") == 1


def test_open_files_go_with_the_fork():
    with engine() as e:
        e.value("f = open('f', 'w+'); f.write('abcdef'); f.flush(); f.seek(2)\n"
                "gone = open('g', 'w+'); import os; os.unlink('g')\nNone")
        assert e.op("fork", into="t")["status"] == "ok"
        e.value("f.write('S'); f.flush()", "s")
        assert e.value("f.read()", "t") == "cdef"
        assert e.value("f.seek(0); f.write('T'); f.flush(); open('f').read()", "t") == "Tbcdef"
        assert e.value("open('f').read()", "s") == "abSdef"
        assert e.cell("gone.write('x'); gone.flush()", "t")["error"]["type"] == "OSError"


def test_each_fork_has_its_own_end(e):
    e.value("x = 1\nNone")
    e.op("fork", into="t")
    e.op("fork", "t", into="u")
    for session in ("s", "t", "u"):
        e.value(f"x = '{session}'\nNone", session)
    e.value("import subprocess\np = subprocess.Popen(['sleep', '100'])\nNone", "u")
    assert e.cell("x = 0\nwhile True: pass", "t", timeout=0.3)["session"]["state"] == "rolled_back"
    assert e.cell("x = 0\nimport os\nos._exit(1)", "s")["session"]["state"] == "rolled_back"
    assert e.value("p.poll()", "u") is None, "others' processes live on"
    assert [e.value("x", session) for session in ("s", "t", "u")] == ["s", "t", "u"]
    e.op("close", "s")
    assert e.value("x", "t") == "t"
    e.op("close", "u")
    assert e.value("x", "t") == "t"
    assert e.op("rewind", "t", cell=1)["status"] == "ok"
    assert e.value("x", "t") == 1


def test_fork_of_much_memory_is_quick():
    """It takes the time of a fork, and not of copying: less than any way to copy so much would."""
    with engine("namespaces", "--memory", "2G", "-t", "60") as e:
        e.value("d = bytearray(b'x') * (500 << 20)\nNone")
        took = []
        for i in range(3):
            began = time.monotonic()
            assert e.op("fork", into=f"t{i}")["status"] == "ok"
            took.append(time.monotonic() - began)
        copied = e.value("import time\nt = time.perf_counter()\nc = bytes(d)\nu = time.perf_counter() - t\n"
                         "del c\nu")
        assert min(took) < max(copied, 0.05), (took, copied)
        e.value("d[:] = b's' * len(d)\nNone", "t0")
        assert [e.value("chr(d[0]) + chr(d[-1])", s) for s in ("s", "t0", "t1")] == ["xx", "ss", "xx"]


@pytest.mark.parametrize("request_, word", [
    ({"op": "fork"}, "into"), ({"op": "fork", "into": "s"}, "already"), ({"op": "fork", "into": ""}, "into"),
    ({"op": "inspect", "into": "t"}, "into"), ({"op": "fork", "session": "none", "into": "t"}, "no session"),
])
def test_bad_forks(request_, word):
    with engine() as e:
        e.cell("x = 1")
        result = e.ask({"kind": "session", "session": "s", **request_})
        assert result["status"] == "failed" and word in result["error"]["message"]
        assert e.value("x") == 1


@pytest.mark.parametrize("level", LEVELS)
def test_forks_are_bounded(level):
    with engine(level, "--processes", "300") as e:
        e.cell("x = 1")
        results = [e.op("fork", into=f"t{i}") for i in range(17)]
        assert [r["status"] for r in results] == ["ok"] * 15 + ["failed"] * 2
        assert results[-1]["error"]["type"] == "limit"
        assert [e.value("x", f"t{i}") for i in range(15)] == [1] * 15
        e.op("close", "t3")
        assert until(lambda: e.op("fork", into="late")["status"] == "ok")


def test_no_room_for_a_fork():
    """A workspace that does not fit twice: the session stays, the fork is not."""
    with engine("namespaces", "--disk", "8M") as e:
        e.value("open('f', 'wb').write(b'x' * (5 << 20))\nx = 1\nNone")
        result = e.op("fork", into="t")
        assert (result["status"], result["error"]["type"]) == ("failed", "limit"), result
        assert e.value("x") == 1
        assert e.op("inspect", "t")["error"]["type"] == "gone"
