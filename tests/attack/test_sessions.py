"""A hostile session: it may spoil itself, and must not fool the engine or touch the session beside it."""

import json
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from harness import LEVELS
from host import GLOVEBOX, until, user_names

# Every process of the box but the attacker's own, by asking for each number.
OTHERS = """
import ctypes, json, os, signal, struct, time
libc = ctypes.CDLL(None, use_errno=True)
def others():
    mine, found = {os.getpid(), os.getppid()}, []
    if os.getppid() == 1:
        return [int(it) for it in os.listdir('/proc') if it.isdigit() and int(it) not in mine | {1}]
    for pid in range(os.getppid() + 1, os.getppid() + 400):
        try:
            os.kill(pid, 0)
            found += [pid] if pid not in mine else []
        except OSError:
            pass
    return found
def frame(kind, token=0, **content):
    text = json.dumps(content).encode()
    return struct.pack('=IIQ', kind, len(text), token) + text
def shout(data):
    for fd in range(3, 64):
        try:
            os.set_blocking(fd, False)
            os.write(fd, data)
        except OSError:
            pass
x = 'before'
"""
CRASH = "\nx = 'spoilt'\nos._exit(3)"
SPIN = "\nx = 'spoilt'\nwhile True: pass"
DONE, SESSION = 2, 48

# name -> (code of the hostile cell, states that its session may be in afterwards; None: gone)
ATTACKS = {
    "kill_everybody": ("os.kill(-1, signal.SIGKILL)" + CRASH, {None, "rolled_back"}),
    "kill_copies_and_spin": ("[os.kill(it, 9) for it in others()]" + SPIN, {None}),
    "kill_copies": ("[os.kill(it, 9) for it in others()]; x = 'after'", {"intact"}),
    "stop_copies": ("[os.kill(it, signal.SIGSTOP) for it in others()]" + CRASH, {"rolled_back"}),
    "every_signal": (
        "[os.kill(it, n) for it in others() for n in range(1, 65) if n not in (9, 32, 33)]" + CRASH,
        {"rolled_back"},
    ),
    # As if from init: the sender's number, and the code of a plain kill, are the kernel's to fill in.
    "wake_copies": (
        "info = (ctypes.c_char * 128)()\n"
        "for code in (0, -1, -6):\n"
        "    struct.pack_into('iiiiii', info, 0, 62, 0, code, 0, os.getppid(), os.getuid())\n"
        "    [libc.syscall(129, it, 62, info) for it in others() for _ in range(50)]\n"
        "[os.kill(it, 62) for it in others() for _ in range(50)]\n"
        "time.sleep(.1)" + CRASH,
        {"rolled_back"},
    ),
    "fill_signal_queues": (
        "[os.kill(it, signal.SIGSTOP) for it in others()]\n"
        "[os.kill(it, n) for n in (62, 40) for it in others() for _ in range(2000)]" + CRASH,
        {"rolled_back"},
    ),
    "forged_done": ("shout(frame(2, value='FORGED', has_value=True, exit_code=0))\ntime.sleep(5)" + CRASH, {"rolled_back"}),
    "forged_copy": ("shout(frame(48, copy=os.getpid()))\ntime.sleep(5)" + CRASH, {"rolled_back"}),
    "forged_kinds": ("shout(frame(7))\ntime.sleep(5)" + CRASH, {"rolled_back"}),
    "forged_check": ("shout(frame(3, findings=[], risk=0))\ntime.sleep(5)" + CRASH, {"rolled_back"}),
    "forged_call": ("shout(frame(16, id=1, name='x', args={}))\ntime.sleep(5)" + CRASH, {"rolled_back"}),
    "forged_by_a_child": (
        "if os.fork() == 0:\n    shout(frame(2, value='FORGED', has_value=True, exit_code=0)); os._exit(0)\n"
        "time.sleep(5)" + CRASH,
        {"rolled_back"},
    ),
    "copy_forged_by_a_child": (
        "if os.fork() == 0:\n    shout(frame(48, copy=os.getpid())); time.sleep(9)\ntime.sleep(5)" + CRASH,
        {"rolled_back"},
    ),
    "half_a_frame": ("shout(frame(2, value='x' * 5000)[:3000])" + CRASH, {"rolled_back"}),
    "garbage": ("shout(b'\\xff' * 40000)\ntime.sleep(5)" + CRASH, {"rolled_back"}),
    "closed_channels": ("os.closerange(3, 256)" + CRASH, {"rolled_back"}),
    "closed_channels_quietly": ("os.closerange(3, 256)", {None, "rolled_back"}),
    "read_orders": (
        "import threading, socket\n"
        "def steal():\n"
        "    for fd in range(3, 64):\n"
        "        try: threading.Thread(target=lambda fd=fd: [os.read(fd, 65536) for _ in range(9)], daemon=True).start()\n"
        "        except OSError: pass\n"
        "steal()" + CRASH,
        {"rolled_back"},
    ),
}


class Batch:
    def __init__(self, host, level):
        command = [GLOVEBOX, "batch", "--isolation", level, "--policy", "off", "-j", "4", "-"]
        pipes = {it: subprocess.PIPE for it in ("stdin", "stdout", "stderr")}
        self.process = host.start(command, **pipes)

    def send(self, session, code, **more):
        self.process.stdin.write(json.dumps({"session": session, "code": code, "timeout": 1, **more}).encode() + b"\n")
        self.process.stdin.flush()

    def result(self):
        return json.loads(self.process.stdout.readline())

    def cell(self, session, code, **more):
        self.send(session, code, **more)
        return self.result()

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(20) == 0, self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()


@pytest.fixture
def batch(hosts, user, level):
    host = hosts(user)
    before = host.snapshot()
    made = Batch(host, level)
    assert made.cell("alice", "mine = 'alice'\nopen('hers', 'w').write(mine)")["status"] == "ok"
    yield made
    hers = made.cell("alice", "import os\n[mine, open('hers').read(), os.listdir()]")
    assert (hers["value"], hers["session"]["state"]) == (["alice", "alice", ["hers"]], "intact"), hers
    made.close()
    assert not host.left(before, "no mark")
    assert not host.complaints()


def state_of(result):
    return (result["session"] or {}).get("state")


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("user", user_names())
@pytest.mark.parametrize("attack", ATTACKS)
def test_hostile_session(batch, attack):
    code, states = ATTACKS[attack]
    assert batch.cell("mallory", OTHERS)["status"] == "ok"
    hostile = batch.cell("mallory", code)
    assert hostile["value"] != "FORGED" and hostile["status"] != "failed", hostile
    assert state_of(hostile) in states | {"intact"} if attack == "closed_channels_quietly" else state_of(hostile) in states
    after = batch.cell("mallory", "x")
    if state_of(hostile) == "rolled_back":
        assert (after["value"], state_of(after)) == ("before", "intact"), after
    elif state_of(hostile) is None:
        assert [it["rule"] for it in hostile["findings"]] == ["session"], "the loss is told"
        assert (after["status"], state_of(after)) == ("error", "new"), after
    elif attack == "kill_copies":
        assert (after["value"], state_of(after)) == ("after", "intact"), after
        assert state_of(batch.cell("mallory", SPIN)) == "rolled_back", "there is a new copy"
        assert batch.cell("mallory", "x")["value"] == "after"


# What a copy is asked for by way of /proc: nothing of it can be changed.
MEMORY = (
    OTHERS
    + """
import re
changed = []
def attempt(road, *args):
    try:
        road(*args)
        changed.append([road.__name__, *map(str, args)])
    except OSError:
        pass
def mem(pid):
    area = re.search(r'^(\\w+)-\\w+ rw', open(f'/proc/{pid}/maps').read(), re.M)
    with open(f'/proc/{pid}/mem', 'r+b', buffering=0) as file:
        file.seek(int(area[1], 16))
        file.write(b'x')
def poke(pid):
    iov = (ctypes.c_uint64 * 2)(id(changed), 8)
    if libc.process_vm_writev(pid, iov, 1, iov, 1, 0) < 0:
        raise OSError
def trace(pid):
    if libc.ptrace(16, pid, 0, 0) < 0:
        raise OSError
def limit(pid):
    import resource
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (1, 1))
def steal(pid):
    if libc.syscall(438, os.pidfd_open(pid), 3, 0) < 0:
        raise OSError
def score(pid):
    with open(f'/proc/{pid}/oom_score_adj', 'w') as file:
        file.write('1000')
for pid in others():
    for road in (mem, poke, trace, limit, steal, score):
        attempt(road, pid)
len(others()), changed
"""
)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("user", user_names())
def test_copies_cannot_be_changed(batch):
    batch.cell("mallory", "import time\ntime.sleep(.2)")
    time.sleep(0.3)
    tried = batch.cell("mallory", MEMORY)
    assert tried["status"] == "ok", tried["error"]
    seen, changed = tried["value"]
    assert seen >= 2, "it did find them"
    assert changed == []


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("user", user_names())
@pytest.mark.parametrize("kind", [2, 3, 16, 17, 32, 48])
def test_frames_between_cells(batch, kind):
    """A child that outlives its cell forges when nothing is asked: the session goes back, and says so."""
    batch.cell("mallory", OTHERS)
    batch.cell("mallory", f"x = 'kept'\nif os.fork() == 0:\n    time.sleep(.4)\n    shout(frame({kind}, value='FORGED'))\n    time.sleep(60)")
    time.sleep(1)
    after = batch.cell("mallory", "x")
    assert (after["value"], state_of(after)) == ("kept", "intact"), after
    assert [it["rule"] for it in after["findings"]] == ["session"]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("user", user_names())
def test_a_fake_copy(batch):
    """A busy process passed off as the copy is the session's own loss, and ends with it."""
    batch.cell("mallory", OTHERS)
    batch.cell(
        "mallory",
        "r, w = os.pipe()\nif os.fork() == 0:\n    if os.fork():\n        os._exit(0)\n"
        "    os.write(w, str(os.getpid()).encode())\n    while True: pass\n"
        "os.wait()\nfake = int(os.read(r, 20))\n"
        "os.register_at_fork(before=lambda: shout(frame(48, copy=fake)))",
    )
    results = [batch.cell("mallory", it) for it in ("1", "os._exit(1)", "x", "x")]
    assert all(it["status"] in ("ok", "error", "failed", "crashed", "timeout") for it in results)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("user", user_names())
def test_a_session_that_hangs_between_cells_holds_up_nobody(batch):
    batch.cell("mallory", "import os, time\nos.register_at_fork(before=lambda: time.sleep(1000))\nx = 1")
    batch.send("mallory", "'y' * 200000" + " " * 500000)
    began = time.monotonic()
    for _ in range(5):
        batch.send("alice", "mine")
    first, *hers = [batch.result() for _ in range(6)]
    assert {it["value"] for it in hers} == {"alice"}
    assert first["status"] in ("timeout", "failed"), first
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("user", user_names())
def test_sessions_are_strangers(batch):
    """Nothing of the one is found from the other: no process to signal, no file, no name."""
    look = (
        "import os\ndef reach(pid):\n    try:\n        os.kill(pid, 0)\n        return True\n    except OSError:\n        return False\n"
        "mates = [pid for pid in range(2, 70000) if reach(pid)]\n"
        "[len(mates), os.path.exists('hers'), 'mine' in globals()]"
    )
    batch.cell("mallory", "1")
    time.sleep(0.3)
    count, has_file, has_name = batch.cell("mallory", look, timeout=20)["value"]
    assert (has_file, has_name) == (False, False)
    assert count <= 4, "itself, its init where it may, and its copies"


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("user", user_names())
def test_copies_are_undone_with_the_session(hosts, user, level):
    host = hosts(user)
    before = host.snapshot()
    made = Batch(host, level)
    for number in range(12):
        made.cell("s", f"x = {number}")
    made.process.stdin.write(b'{"kind": "session", "session": "s", "op": "close"}\n')
    made.process.stdin.flush()
    assert made.result()["status"] == "ok"
    assert not until(lambda: len(host.snapshot().processes - before.processes) > 12, 3)
    made.close()
    assert not host.left(before, "no mark")


REACH = (
    OTHERS
    + """
reached = []
def attempt(what, road):
    try:
        if road():
            reached.append(what)
    except OSError:
        pass
for pid in family:
    attempt(f'signal {pid}', lambda: os.kill(pid, 0) is None)
    for name in ('mem', 'environ', 'maps'):
        attempt(f'{name} {pid}', lambda: open(f'/proc/{pid}/{name}', 'rb').read(1))
    for name in ('cwd', 'root', 'fd'):
        attempt(f'{name} {pid}', lambda: os.listdir(f'/proc/{pid}/{name}') and name == 'cwd')
for place in places:
    attempt(f'list {place}', lambda: os.listdir(place) is not None)
    attempt(f'read {place}', lambda: open(place + '/secret').read())
    attempt(f'write {place}', lambda: open(place + '/made', 'w'))
reached
"""
)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("user", user_names())
def test_a_fork_reaches_neither_its_origin_nor_its_sisters(batch):
    about = "import os\nopen('secret', 'w').write('s')\n[os.getpid(), os.getcwd(), os.environ.get('TMPDIR'), os.environ.get('HOME')]"
    batch.cell("origin", "y = 1")
    for name in ("one", "two"):
        batch.process.stdin.write(json.dumps({"kind": "session", "session": "origin", "op": "fork", "into": name}).encode() + b"\n")
        batch.process.stdin.flush()
        assert batch.result()["status"] == "ok"
    known = {name: batch.cell(name, about)["value"] for name in ("origin", "one", "two")}
    for name in ("one", "two"):
        others = [it for who, it in known.items() if who != name]
        inputs = {"family": [it[0] for it in others], "places": [place for it in others for place in it[1:]]}
        tried = batch.cell(name, REACH, inputs=inputs)
        assert (tried["status"], tried["value"]) == ("ok", []), tried
    spoilt = batch.cell("one", "os.kill(-1, 9)\nwhile True: pass")
    assert spoilt["status"] in ("timeout", "crashed"), spoilt
    assert [batch.cell(name, "y")["value"] for name in ("origin", "two")] == [1, 1]


# A file and a directory take turns with links, for as long as the session lives.
SWAP = """
import os, threading
os.mkdir('d')
def swap_file():
    while True:
        os.symlink(TARGET + '/secret', 'l'); os.rename('l', 'x')
        open('f', 'w').close(); os.rename('f', 'x')
def swap_directory():
    while True:
        os.rename('d', 'real'); os.symlink(TARGET, 'd')
        os.unlink('d'); os.rename('real', 'd')
def persist(swap):
    while True:
        try: swap()
        except OSError: pass
for swap in swap_file, swap_directory: threading.Thread(target=persist, args=[swap], daemon=True).start()
"""


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("user", user_names())
def test_a_workspace_that_changes_while_it_is_read_and_written(hosts, user, level):
    """Links come and go in the place of files and directories: nothing beyond the workspace is told or touched."""
    host = hosts(user)
    made = Batch(host, level)
    with tempfile.TemporaryDirectory(dir="/tmp") as outside:
        Path(outside).chmod(0o777)
        secret = Path(outside, "secret")
        secret.write_text("SECRET")
        secret.chmod(0o644)
        assert made.cell("mallory", f"TARGET = '{outside}'\n" + SWAP)["status"] == "ok"
        for i in range(150):
            for more in ({"op": "read_file", "path": "x"}, {"op": "read_file", "path": "d/secret"}, {"op": "list_files"},
                         {"op": "write_file", "files": {f"d/w{i % 7}": "x"}},
                         {"op": "write_file", "files": {"x": "theirs"}}):
                made.process.stdin.write(json.dumps({"kind": "session", "session": "mallory", **more}).encode() + b"\n")
            made.process.stdin.flush()
            for _ in range(5):
                assert "SECRET" not in json.dumps(made.result())
        assert [it.name for it in Path(outside).iterdir()] == ["secret"] and secret.read_text() == "SECRET"
    made.close()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("user", user_names())
@pytest.mark.parametrize("place", ["outside", "within"])
def test_a_link_where_forks_live(hosts, user, level, place):
    """The engine writes into a fork's workspace; a session that forks decides what lies on the way there."""
    host = hosts(user)
    made = Batch(host, level)
    with tempfile.TemporaryDirectory(dir="/tmp") as outside:
        Path(outside).chmod(0o777)
        results, target = [], repr(outside) if place == "outside" else "os.environ['TMPDIR']"
        assert made.cell("s", f"import os\nos.symlink({target}, os.environ['HOME'] + '/.forks')")["status"] == "ok"
        for request in ({"session": "s", "op": "fork", "into": "t"}, {"session": "t", "op": "list_files"},
                        {"session": "t", "op": "write_file", "files": {"f": "x"}}):
            made.process.stdin.write(json.dumps({"kind": "session", **request}).encode() + b"\n")
            made.process.stdin.flush()
            results.append(made.result()["status"])
        # There is no fork, and a session of its own is written to; or there is one that cannot be reached.
        assert results == (["failed", "failed", "ok"] if place == "outside" else ["ok", "failed", "failed"])
        assert list(Path(outside).rglob("*")) == []
    assert made.cell("s", "1")["value"] == 1
    made.close()
