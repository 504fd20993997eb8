"""Boxes are forked from a warm interpreter: what forking breaks unless one sees to it."""
import ctypes
import glob
import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from box import ENV, PYTHON, batch, descendants, run_json, running, until, value


@pytest.fixture(scope="module")
def venv():
    """A virtual environment that every user can read, and its folder for modules."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        top = Path(folder) / "v"
        subprocess.run([PYTHON, "-m", "venv", "--without-pip", "--system-site-packages", top], check=True)
        site, = top.glob("lib/python3*/site-packages")
        yield top / "bin/python", site


# ---- each run is its own ----

@pytest.mark.parametrize("preload, code", [
    ("random", "import random\nrandom.random()"),
    ("random", "import random\nrandom.Random().random()"),
    ("random", "import random\nrandom.SystemRandom().random()"),
    ("uuid", "import uuid\nstr(uuid.uuid4())"),
    ("uuid", "import uuid\nstr(uuid.uuid1())"),
    ("tempfile", "import tempfile\ntempfile.mktemp()"),
    ("tempfile", "import tempfile, os\nos.path.basename(tempfile.mkdtemp())"),
    ("secrets", "import secrets\nsecrets.token_hex()"),
    ("ssl", "import ssl\nssl.RAND_bytes(8).hex()"),
    ("numpy", "import numpy\nfloat(numpy.random.rand())"),
    ("numpy", "import numpy\nfloat(numpy.random.default_rng().random())"),
], ids=lambda text: text.splitlines()[-1])
def test_randomness_differs_from_run_to_run(preload, code):
    results = batch([code] * 6, "--python", PYTHON, "--preload", preload, "-j", 2)
    assert [r["status"] for r in results] == ["ok"] * 6, results[0]["error"]
    assert len({r["value"] for r in results}) == 6


def test_what_a_preloaded_module_does_after_a_fork_is_done(venv):
    """Also if the handler is a method of the standard library's: it is not the standard library's own."""
    python, site = venv
    site.joinpath("dice.py").write_text("import os, random\nrng = random.Random(1)\n"
                                        "os.register_at_fork(after_in_child=rng.seed)\n")
    results = batch(["import dice\ndice.rng.random()"] * 4, "--python", python, "--preload", "dice")
    assert len({r["value"] for r in results}) == 4, results[0]["error"]


def test_a_seed_is_kept():
    code = "import random\nrandom.seed(1)\nrandom.random()"
    first, second = batch([code] * 2, "--preload", "random")
    assert first["value"] == second["value"]


def test_nothing_passes_from_run_to_run():
    spoil = ("import builtins, json, os, sys\nbuiltins.print = None\njson.dumps = None\n"
             "sys.path.clear()\nos.environ['LEFT'] = '1'\nleft = 1\nopen('left', 'w').write('x')\n"
             "open(os.path.join(os.environ['TMPDIR'], 'left'), 'w').write('x')\n'spoilt'")
    look = ("import json, os, sys\nprint(json.dumps(1))\n[os.environ.get('LEFT'), 'left' in globals(),"
            " os.path.exists('left'), os.path.exists(os.environ['TMPDIR'] + '/left'), bool(sys.path)]")
    results = batch([spoil, look] * 4, "-j", 1)
    assert [r["status"] for r in results] == ["ok"] * 8, results[1]["error"]
    assert all(r["value"] == [None, False, False, False, True] for r in results[1::2])


# ---- the process is whole ----

def test_abort_is_signal_6():
    result = run_json("import os\nos.abort()")
    assert (result["status"], result["exit_code"]) == ("crashed", 134)


@pytest.mark.parametrize("code, expected", [
    ("import threading, os\nthreading.get_native_id() == os.getpid()", True),
    ("import threading\nthreading.current_thread() is threading.main_thread()", True),
    ("import threading\nt = threading.Thread(target=lambda: None)\nt.start()\nt.join(5)\nt.is_alive()",
     False),
    ("import threading\nthreading.active_count()", 1),
    ("import signal\nr = []\nsignal.signal(signal.SIGUSR1, lambda *a: r.append(1))\n"
     "signal.raise_signal(signal.SIGUSR1)\nr", [1]),
    ("import os, signal\nr = []\nsignal.signal(signal.SIGUSR1, lambda *a: r.append(1))\n"
     "os.kill(os.getpid(), signal.SIGUSR1)\nr", [1]),
    ("import signal, threading\nr = []\nsignal.signal(signal.SIGUSR1, lambda *a: r.append(1))\n"
     "signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)\nr", [1]),
    ("import signal\nsorted(int(s) for s in signal.pthread_sigmask(signal.SIG_BLOCK, []))", []),
    ("import signal\n[signal.getsignal(s) == d for s, d in ((signal.SIGINT,"
     " signal.default_int_handler), (signal.SIGTERM, 0), (signal.SIGCHLD, 0), (signal.SIGPIPE, 1))]",
     [True] * 4),
    ("import os\nos.getpid() in (os.getpgrp(), os.getpid())", True),
    ("import gc\ngc.isenabled()", True),
    ("import sys\nsys.argv[1:]", []),
    ("import sys\nsys.gettrace() is None and sys.getprofile() is None", True),
    ("import os\nos.wait() if False else os.waitstatus_to_exitcode(os.waitpid(os.spawnvp(os.P_NOWAIT,"
     " 'true', ['true']), 0)[1])", 0),
    ("import os\nos.umask(0o022)", 0o022),
    ("import faulthandler\nfaulthandler.is_enabled()", False),
    # The C library's own idea of the thread: with a wrong one, a lock that nobody has is its own.
    ("import ctypes\nc, lock = ctypes.CDLL(None), ctypes.create_string_buffer(64)\n"
     "[c.pthread_rwlock_init(lock, None), c.pthread_rwlock_rdlock(lock)]", [0, 0]),
    ("import ctypes, os\nctypes.CDLL(None).sched_getcpu() in os.sched_getaffinity(0)", True),
])
def test_process_state(code, expected):
    assert value(code) == expected


def test_nobody_shares_memory_with_a_program():
    """The interpreter of a single run is not copied for it: by then, nobody else must have it."""
    with running("run", "--python", PYTHON, "-c", "print('here', flush=True)\nimport time; time.sleep(60)") as p:
        assert p.stdout.readline() == "here\n"
        assert sorted(descendants(p.pid).values()) == ["glovebox-guest", "glovebox-init"]


def test_descriptors():
    """Standard streams and at most the engine's own channel: nothing of host or zygote."""
    fds = value("import os\nr = []\nfor fd in range(1024):\n    try: os.fstat(fd)\n"
                "    except OSError: continue\n    r.append(fd)\nr")
    assert fds[:3] == [0, 1, 2] and len(fds) <= 4


def test_descriptors_of_a_child():
    fds = value("import subprocess\nsubprocess.run(['ls', '/proc/self/fd'], capture_output=True,"
                " text=True).stdout.split()")
    assert fds == ["0", "1", "2", "3"], "ls itself has one open"


# ---- preloading ----

def test_preloaded_modules_are_there(venv):
    python, site = venv
    (site / "slow.py").write_text("import os\nloaded_by = os.getpid()\nstate = []\n")
    code = ("import sys\nthere = 'slow' in sys.modules\nimport slow\nslow.state.append(1)\n"
            "[there, len(slow.state)]")
    results = batch([code] * 3, "--python", python, "--preload", "slow,json")
    assert [r["value"] for r in results] == [[True, 1]] * 3


def test_preloaded_library_with_threads(venv):
    python, site = venv
    (site / "threaded.py").write_text(
        "import threading, time\nlock = threading.Lock()\n"
        "def work():\n    while True:\n        with lock: time.sleep(0.001)\n"
        "threading.Thread(target=work, daemon=True).start()\nx = 3\n")
    code = ("import threading, threaded\nt = threading.Thread(target=lambda: None)\n"
            "t.start(); t.join()\nthreaded.x")
    results = batch([code] * 5, "--python", python, "--preload", "threaded", "--timeout", 10)
    assert [(r["status"], r["value"]) for r in results] == [("ok", 3)] * 5, results[0]["error"]


@pytest.mark.parametrize("module, text, words", [
    ("no_such_module", None, "no_such_module"),
    ("breaks", "1/0\n", "breaks"),
    ("leaves", "import os\nos._exit(3)\n", None),
])
def test_preload_that_fails(venv, module, text, words):
    python, site = venv
    if text:
        (site / f"{module}.py").write_text(text)
    result = run_json("1", "--python", python, "--preload", module)
    assert (result["status"], result["exit_code"]) == ("failed", 125)
    assert words is None or words in result["error"]["message"]


def test_preloaded_output_is_not_the_guests(venv):
    python, site = venv
    (site / "noisy.py").write_text("import sys\nprint('noise')\nprint('noise', file=sys.stderr)\n")
    result = run_json("print('mine')", "--python", python, "--preload", "noisy")
    assert (result["stdout"], result["stderr"]) == ("mine\n", "")


# ---- interpreters ----

def test_a_shim_is_resolved(tmp_path):
    shim = tmp_path / "python3"
    shim.write_text(f"#!/bin/sh\nexec {PYTHON} \"$@\"\n")
    shim.chmod(0o755)
    name = "import sys\nsys.executable"
    real = subprocess.check_output([PYTHON, "-c", "import sys; print(sys.executable)"], text=True)
    assert value(name, "--python", shim) == real.strip()
    assert value(name, env={"PATH": f"{tmp_path}:/usr/bin:/bin"}) == real.strip()


def test_a_relative_interpreter(tmp_path):
    (tmp_path / "py").symlink_to(PYTHON)
    assert value("1", "--python", "./py", cwd=tmp_path) == 1


def version(python):
    text = subprocess.run([python, "-I", "-c", "import sys; print(*sys.version_info[:2])"],
                          capture_output=True, text=True).stdout.split()
    return tuple(map(int, text)) if len(text) == 2 else (0, 0)


def interpreters():
    home = os.path.expanduser("~")
    found = [PYTHON, *glob.glob(f"{home}/.pyenv/versions/*/bin/python3"),
             *glob.glob("/opt/*/bin/python3"), *glob.glob("/usr/local/bin/python3.[0-9]*[0-9]")]
    return {".".join(map(str, version(p))): p for p in found if version(p) >= (3, 9)}


@pytest.mark.parametrize("python", interpreters().values(), ids=interpreters())
def test_interpreter(python):
    results = batch([
        "import sys\nlist(sys.version_info[:2])",
        "import asyncio\nawait asyncio.gather(*(asyncio.sleep(0, i) for i in range(3)))",
        "def f(): 1/0\nf()",
        "import threading\nt = threading.Thread(target=print, args=('t',))\nt.start(); t.join()",
        "import multiprocessing\ndef f(x): return x + 1\n"
        "with multiprocessing.get_context('fork').Pool(2) as p: r = p.map(f, [1, 2])\nr",
        "import os, random\nos.path.exists('f'), random.random()",
        "import os\nos.abort()",
        "x = (",
        "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'print(5)'],"
        " capture_output=True, text=True).stdout",
        "import sqlite3, zlib, hashlib\nzlib.crc32(b'x')",
        "bytearray(1 << 40)",
    ], "--python", python)
    assert results[0]["value"] == list(version(python))
    assert results[1]["value"] == [0, 1, 2]
    assert results[2]["error"]["type"] == "ZeroDivisionError" and results[2]["error"]["line"]
    assert "    def f(): 1/0\n" in results[2]["error"]["traceback"]
    assert results[3]["stdout"] == "t\n"
    assert results[4]["value"] == [2, 3], results[4]["error"]
    assert results[5]["value"][0] is False
    assert (results[6]["status"], results[6]["exit_code"]) == ("crashed", 134)
    assert (results[7]["status"], results[7]["findings"][0]["rule"]) == ("rejected", "syntax")
    assert results[8]["value"] == "5\n", results[8]["error"]
    assert results[9]["status"] == "ok", results[9]["error"]
    assert results[10]["limit"] == "memory"


# ---- a zygote that dies ----

def children(pid):
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:  # gone meanwhile
        return []


def zygote_of(process):
    """The interpreter that boxes are forked from, or None."""
    # The oldest: what it has just made carries its name for a moment.
    named = [pid for pid, name in sorted(descendants(process.pid).items()) if name == "glovebox-zygote"]
    return named[0] if named else None


def ask(process, code):
    process.stdin.write(json.dumps({"code": code}) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def test_a_zygote_that_dies_is_replaced():
    with running("batch", "-j", 1, "-", stdin=-1) as process:
        assert ask(process, "1")["value"] == 1
        for i in range(3):
            dead = zygote_of(process)
            os.kill(dead, signal.SIGKILL)
            assert [ask(process, f"{i}")["value"] for _ in range(6)] == [i] * 6
            assert zygote_of(process) not in (None, dead)


def test_runs_that_wait_for_a_box_survive_its_zygote():
    with running("batch", "-j", 8, "-", stdin=-1) as process:
        assert ask(process, "1")["value"] == 1
        for i in range(60):
            process.stdin.write(json.dumps({"id": i, "code": f"{i}"}) + "\n")
        process.stdin.flush()
        os.kill(zygote_of(process), signal.SIGKILL)
        results = [json.loads(process.stdout.readline()) for _ in range(60)]
    assert [r["value"] for r in results] == list(range(60)), [r["error"] for r in results]


def test_a_zygote_that_always_dies_is_given_up(venv):
    """The caller is told once a run, with the reason; nothing spins."""
    python, site = venv
    site.joinpath("dies.py").write_text("import os\nos.kill(os.getpid(), 9)\n")
    results = batch(["1", "2"], "--python", python, "--preload", "dies")
    assert [r["status"] for r in results] == ["failed", "failed"]
    assert all("did not start" in r["error"]["message"] for r in results)


@pytest.mark.parametrize("run", [run_json, lambda code, *options: batch([code], *options)[0]], ids=["run", "batch"])
def test_a_zygote_that_dies_of_making_boxes_is_given_up(venv, run):
    """Long before a run has waited for a box for as long as it may."""
    python, site = venv
    site.joinpath("forks.py").write_text("import os\nos.register_at_fork(before=lambda: os.kill(os.getpid(), 9))\n")
    began = time.monotonic()
    result = run("1", "--python", python, "--preload", "forks")
    assert result["status"] == "failed" and time.monotonic() - began < 20, result["error"]


@pytest.mark.parametrize("level", ["namespaces", "landlock"])
def test_a_box_that_is_lost_is_made_again(venv, level):
    """Where the zygote has left its memory to the first one, another zygote is started for it."""
    python, site = venv
    site.joinpath("slow.py").write_text("import os, time\n"
                                        "os.register_at_fork(after_in_child=lambda: time.sleep(.5))\n")
    with running("run", "--json", "--isolation", level, "--python", python, "--preload", "slow", "-c",
                 "6 * 7") as process:
        assert until(lambda: "glovebox-init" in descendants(process.pid).values())
        box, = [pid for pid, name in descendants(process.pid).items() if name == "glovebox-init"]
        os.kill(box, signal.SIGKILL)
        result = json.loads(process.communicate(timeout=20)[0])
    assert (result["status"], result["value"]) == ("ok", 42), result["error"]


def test_a_zygote_that_is_killed_while_it_makes_a_box_leaves_nothing(tmp_path):
    """Mounts are mapped with the help of a process that waits; the zygote's children are of that kind."""
    tmp_path.chmod(0o755)
    for _ in range(20):
        with running("run", "--json", "-m", f"{tmp_path}:m:rw", "-c", "6 * 7") as process:
            while not children(process.pid) and process.poll() is None:
                pass
            zygote = (children(process.pid) or [0])[0]
            while Path(f"/proc/{zygote}").exists() and process.poll() is None:
                if children(zygote):
                    os.kill(zygote, signal.SIGKILL)
                    break
            result = json.loads(process.communicate(timeout=20)[0])
        assert (result["status"], result["value"]) == ("ok", 42), result["error"]


def stop_at_exit(pid):
    """Hold a process where it is about to end; what is returned lets it go on."""
    seize, detach, trace_exit, event_exit = 0x4206, 17, 0x40, 6
    ptrace = ctypes.CDLL(None, use_errno=True).ptrace
    ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    assert ptrace(seize, pid, None, trace_exit) == 0, os.strerror(ctypes.get_errno())
    _, status = os.waitpid(pid, 0x40000000)  # __WALL
    assert status >> 8 == signal.SIGTRAP | event_exit << 8
    return lambda: ptrace(detach, pid, None, None)


def test_a_guest_whose_box_is_gone_before_it_begins_does_not_begin(venv):
    """Where no namespace ends it: it has asked to die with its init when that was dead already."""
    python, site = venv
    site.joinpath("slow3.py").write_text("import os, time\nos.register_at_fork(before=lambda: time.sleep(.5))\n")
    scratch = site.parent / "scratch"  # nobody is left to remove what is in it
    scratch.mkdir()
    scratch.chmod(0o777)
    with running("run", "--isolation", "landlock", "--python", python, "--preload", "slow3", "-c",
                 "import time\ntime.sleep(60)", env={**ENV, "TMPDIR": str(scratch)}) as process:
        assert until(lambda: zygote_of(process))
        go_on = stop_at_exit(zygote_of(process))
        init, = [pid for pid, name in descendants(process.pid).items() if name == "glovebox-init"]
        time.sleep(.3)  # init has said all that it says to the guest
        process.kill()
        os.kill(init, signal.SIGKILL)
        process.wait()
        go_on()
    assert until(lambda: not descendants(), 5)


def test_the_clock_begins_with_the_program(venv):
    """What a preloaded module does in each box counts for nobody's time limit."""
    python, site = venv
    site.joinpath("slow2.py").write_text("import os, time\n"
                                         "os.register_at_fork(after_in_child=lambda: time.sleep(.7))\n")
    result = run_json("6 * 7", "--python", python, "--preload", "slow2", "-t", 0.3)
    assert (result["status"], result["value"]) == ("ok", 42), result["error"]


# ---- last words ----

@pytest.mark.parametrize("level", ["namespaces", "landlock"])
@pytest.mark.parametrize("wait", ["while True: pass", "import time\ntime.sleep(60)"])
def test_what_was_printed_without_a_newline_is_kept(level, wait):
    result = run_json(f"print('partial', end='')\n{wait}", "--isolation", level, "-t", 0.3)
    assert (result["status"], result["stdout"]) == ("timeout", "partial")


# ---- boxes that one zygote cannot all make (sandbox/net.h) ----

HOST_NET = os.stat("/proc/self/ns/net").st_ino
WHERE = "import os\n[os.stat('/usr').st_uid, os.stat('/proc/self/ns/net').st_ino]"
KINDS = {
    "own": ({}, "namespaces", lambda uid, net: net != HOST_NET),
    "landlock": ({"isolation": "landlock"}, "landlock", lambda uid, net: uid == os.stat("/usr").st_uid),
    "host": ({"network": "host"}, "namespaces", lambda uid, net: net == HOST_NET),
}


def is_as_asked(kind, result):
    _options, level, is_right = KINDS[kind]
    return result["status"] == "ok" and result["isolation"]["level"] == level and is_right(*result["value"])


@pytest.mark.parametrize("jobs", [1, 4])
@pytest.mark.parametrize("order", [
    ["own"] * 12 + ["landlock"] * 3 + ["own"] * 6 + ["host"] * 3 + ["own"] * 3,
    ["host"] + ["own"] * 12 + ["host"] + ["own"] * 6 + ["landlock"] * 2,
    ["own", "own", "landlock", "host"] * 8,
], ids=["after", "before", "between"])
def test_boxes_of_every_kind_from_one_engine(order, jobs):
    where = WHERE.replace("os.stat('/proc/self/ns/net').st_ino", "0")
    asked = [{"code": where if kind == "landlock" else WHERE, **KINDS[kind][0]} for kind in order]
    results = batch(asked, "--policy", "off", "--allow-request", "network", "-j", jobs)
    wrong = [(kind, it) for kind, it in zip(order, results) if not is_as_asked(kind, it)]
    assert not wrong, wrong[0]


def test_runs_go_on_when_a_zygote_that_lends_is_killed():
    """What its boxes handed on is of no use to the next one."""
    with running("batch", "-j", 1, "-", stdin=-1) as process:
        for _ in range(4):
            answers = [ask(process, WHERE) for _ in range(12)]
            assert all(is_as_asked("own", it) for it in answers), answers
            os.kill(zygote_of(process), signal.SIGKILL)


# ---- its twin ----

def steady_zygotes(process):
    """The first and its twin: those that are there twice in a row, since what they make has their name for a moment."""
    def named():
        return {pid for pid, name in descendants(process.pid).items() if name == "glovebox-zygote"}
    before = named()
    time.sleep(0.05)
    return sorted(before & named())


def load(process, first, count):
    for i in range(first, first + count):
        process.stdin.write(json.dumps({"id": i, "code": f"{i}"}) + "\n")
    process.stdin.flush()


def zombies(process):
    """Children that the engine never waits for."""
    seen = None
    for _ in range(5):  # it is about to wait for some
        now = {pid for pid in children(process.pid) if Path(f"/proc/{pid}/stat").read_text().rsplit(")")[-1].split()[0] == "Z"}
        seen = now if seen is None else seen & now
        time.sleep(0.1)
    return seen


def answers(process, count):
    return [json.loads(process.stdout.readline())["value"] for _ in range(count)]


@pytest.mark.parametrize("which", [0, 1], ids=["first", "twin"])
def test_runs_survive_either_of_two_zygotes(which):
    with running("batch", "-j", 8, "-", stdin=-1) as process:
        load(process, 0, 40)
        assert answers(process, 40) == list(range(40))
        dead = []
        for turn in range(1, 4):
            them = steady_zygotes(process)
            assert len(them) == 2 and not set(them) & set(dead), them
            load(process, turn * 100, 60)
            os.kill(them[which], signal.SIGKILL)
            dead += them
            assert answers(process, 60) == list(range(turn * 100, turn * 100 + 60))
        # The one that was left went too, when its other half was gone, and told of its boxes before.
        left = {pid for pid, name in descendants(process.pid).items() if name == "glovebox-zygote"}
        assert not left & set(dead)
        assert len(zombies(process)) <= 3, "one that was being made when its zygote was killed, a kill"


def test_two_zygotes_end_with_their_engine():
    with running("batch", "-j", 8, "-", stdin=-1) as process:
        load(process, 0, 40)
        assert answers(process, 40) == list(range(40))
        them = steady_zygotes(process)
        assert len(them) == 2
        process.kill()
        process.wait()
        end = time.monotonic() + 10
        while any(Path(f"/proc/{pid}/exe").exists() for pid in them) and time.monotonic() < end:
            time.sleep(0.02)
        assert not [pid for pid in them if Path(f"/proc/{pid}/exe").exists()]


FORKY = """
import os
count = 0
seen = []
def child():
    global count
    count += 1
    seen.append(os.getpid())
    import colorsys
os.register_at_fork(before=lambda: __import__("colorsys"), after_in_child=child)
"""


def test_fork_handlers_run_once_and_import_nothing_of_the_callers(venv, tmp_path):
    """Neither in the zygote nor in its twin, nor in a guest before it is in its box."""
    python, site = venv
    (site / "forky.py").write_text(FORKY)
    mark = tmp_path / "ran"
    (tmp_path / "colorsys.py").write_text(f"open({str(mark)!r}, 'a').write('x')\n")
    results = batch(["import forky\n[forky.count, forky.seen]"] * 40, "--python", python, "--preload", "forky", "-j", 8,
                    cwd=tmp_path)
    assert [it["value"] for it in results] == [[1, [2]]] * 40, results[0]["error"]
    assert not mark.exists()


def test_what_a_program_only_reads_is_not_all_its_own(venv):
    """It is the zygote's as well, and counted by halves at most."""
    python, site = venv
    (site / "big.py").write_text("data = [bytes([i % 256]) * 100000 for i in range(1200)]\n")
    code = "import big\nsum(it[k] == it[0] for it in big.data for k in range(0, len(it), 4096))"
    results = batch([{"code": code, "limits": {"memory": "90M"}}] * 4, "--python", python, "--preload", "big", "-j", 1)
    assert [it["status"] for it in results] == ["ok"] * 4, results[0]


FORKS = """
import logging, os, random, threading
def told(fn):
    r, w = os.pipe()
    if os.fork() == 0:
        os.write(w, repr(fn()).encode())
        os._exit(0)
    os.wait()
    return eval(os.read(r, 1000))
random.seed(1)
def thread():
    it = threading.Thread(target=lambda: None)
    it.start()
    it.join()
    return threading.active_count()
def locks():
    logging.getLogger("x").warning("in a child")
    return True
held = threading.Thread(target=lambda: (logging._lock.acquire(), started.set(), go.wait(), logging._lock.release()))
started, go = threading.Event(), threading.Event()
held.start()
started.wait()
threading.Timer(0.2, go.set).start()
[told(random.random) != random.random(), told(thread), told(locks), hasattr(os, "register_at_fork")]
"""


@pytest.mark.parametrize("run", [lambda code: run_json(code), lambda code: batch([code] * 12, "-j", 2)[-1]], ids=["run", "batch"])
def test_what_a_program_forks_runs_the_handlers_of_the_library(run):
    """Its random numbers are others, its threads are counted, and no lock stays with a thread that is gone."""
    result = run(FORKS)
    assert result["value"] == [True, 1, True, True], result
