"""What code may use. A limit ends the code that met it, says which and how much, and nobody else."""
import time

import pytest
from box import batch, glovebox, run_json, running, until

GRACE = 3  # seconds over the timeout that a loaded machine may need; a hang takes far longer


# ---- time ----

@pytest.mark.parametrize("code", [
    "while True: pass",
    "import time\ntime.sleep(100)",
    "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
    "import signal, time\n"
    "for s in set(signal.valid_signals()) - {9, 19}:\n"
    "    try: signal.signal(s, signal.SIG_IGN)\n"
    "    except (OSError, ValueError): pass\n"
    "while True: time.sleep(1)",
    "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(100)\nos.wait()",
    "import time\nwhile True:\n    try: time.sleep(100)\n    except BaseException: pass",
    "import asyncio\nawait asyncio.sleep(100)",
    "import threading\nthreading.Event().wait()",
    "import threading, time\nthreading.Thread(target=time.sleep, args=(100,)).start()",
    "import atexit, time\natexit.register(time.sleep, 100)",
    "import ctypes\nctypes.CDLL(None).pause()",
    "(9 ** 9 ** 8) % 7",
    "import subprocess\nsubprocess.run(['sleep', '100'])",
], ids=["spin", "sleep", "stop-self", "ignore-signals", "setsid-child", "catch-all", "await", "event",
        "thread", "atexit", "in-c", "no-bytecode", "subprocess"])
def test_timeout(code):
    start = time.monotonic()
    result = run_json("print('kept')\n" + code, "--timeout", 0.5)
    assert time.monotonic() - start < 0.5 + GRACE
    assert (result["status"], result["exit_code"]) == ("timeout", 124)
    assert result["stdout"] == "kept\n" and result["limit"] is None
    assert "0.5" in result["error"]["message"]


@pytest.mark.parametrize("child", [
    "subprocess.Popen(['sleep', '100'])",
    "subprocess.Popen(['sleep', '100'], start_new_session=True)",
    "os.fork() or time.sleep(100)",
    "os.fork() or (os.setsid(), os.fork() and os._exit(0), time.sleep(100))",
], ids=["popen", "new-session", "fork", "daemon"])
def test_a_child_that_holds_the_output_does_not_hold_the_call(child):
    start = time.monotonic()
    result = run_json(f"import os, subprocess, time\n{child}\nprint('over')", "--timeout", 20)
    assert time.monotonic() - start < GRACE
    assert (result["status"], result["stdout"]) == ("ok", "over\n")


def test_plain_timeout_says_so():
    done = glovebox("run", "-t", "0.3", "-c", "print('kept')\nwhile True: pass")
    assert (done.returncode, done.stdout) == (124, "kept\n")
    assert done.stderr.startswith("glovebox: ") and "0.3" in done.stderr


# ---- the rest: {name: (limit, options, amount that the message tells, code)} ----

EAT = "a = []\nwhile True: a.append(bytearray(1 << 20))"
EAT_APART = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        a = bytearray(b"x") * (24 << 20)
        time.sleep(30)
        os._exit(0)
for _ in range(8): os.wait()
"""
MEMORY, PROCESSES = ("--memory", "96M"), ("--processes", "8")
LIMITS = {
    "memory": ("memory", MEMORY, "96M", EAT),
    "memory-at-once": ("memory", MEMORY, "96M", "x = b'x' * (1 << 31)"),
    "memory-of-children": ("memory", MEMORY, "96M", EAT_APART),
    "memory-of-a-child": ("memory", MEMORY, "96M",
                          "import os\nif os.fork() == 0:\n"
                          "    try:\n        a = []\n        while True: a.append(b'x' * (1 << 20))\n"
                          "    except MemoryError:\n        pass\n"
                          "    while True: pass\nx = bytearray(1 << 31)"),
    "memory-raised-again": ("memory", MEMORY, "96M",
                            "try:\n    x = bytearray(1 << 31)\nexcept MemoryError:\n    raise"),
    "processes-fork": ("processes", PROCESSES, "8",
                       "import os, time\nfor _ in range(50):\n"
                       "    if os.fork() == 0:\n        time.sleep(30)\n        os._exit(0)"),
    "processes-popen": ("processes", PROCESSES, "8",
                        "import subprocess\np = [subprocess.Popen(['sleep', '30'])"
                        " for _ in range(50)]"),
    "processes-threads": ("processes", PROCESSES, "8",
                          "import threading, time\nfor _ in range(50):\n"
                          "    threading.Thread(target=time.sleep, args=(5,), daemon=True).start()"),
    "memory-threads": ("memory", MEMORY, "96M",
                       "import threading\nthreading.stack_size(1 << 30)\n"
                       "threading.Thread(target=print).start()"),
    "processes-bomb": ("processes", PROCESSES, "8", "import os\nwhile True: os.fork()"),
    "disk": ("disk", ("--disk", "4M"), "4M", "open('f', 'wb').write(b'x' * (8 << 20))"),
    "disk-in-tmp": ("disk", ("--disk", "4M"), "4M",
                    "import tempfile\nf = tempfile.TemporaryFile()\nf.write(b'x' * (8 << 20))\n"
                    "f.flush()"),
    "disk-in-pieces": ("disk", ("--disk", "4M"), "4M",
                       "for i in range(100): open(f'f{i}', 'wb').write(b'x' * (1 << 17))"),
    "disk-inodes": ("disk", ("--disk", "1M"), "1M",
                    "import os\nfor i in range(500000): os.mknod(f'f{i}')"),
    "disk-sparse": ("disk", ("--disk", "4M"), "4M",
                    "import os\nos.posix_fallocate(os.open('f', os.O_RDWR | os.O_CREAT), 0, 1 << 30)"),
    "open-files": ("open_files", ("--open-files", "32"), "32",
                   "f = [open('/dev/null') for _ in range(100)]"),
    "open-pipes": ("open_files", ("--open-files", "32"), "32",
                   "import os\nf = [os.pipe() for _ in range(100)]"),
    "cpu": ("cpu", ("--cpu", "1"), "1", "while True: pass"),
    "cpu-of-children": ("cpu", ("--cpu", "1"), "1",
                        "import os\nos.fork()\nos.fork()\nwhile True: pass"),
}


@pytest.mark.parametrize("name", LIMITS)
def test_limit(name):
    limit, options, amount, code = LIMITS[name]
    start = time.monotonic()
    result = run_json("print('kept')\n" + code, *options, "--timeout", 25)
    assert time.monotonic() - start < 20
    assert (result["status"], result["limit"]) == ("limit", limit), result["error"]
    assert result["exit_code"] == 137 and result["stdout"].startswith("kept\n")
    assert amount in result["error"]["message"].replace(" MiB", "M").replace(" M", "M")


@pytest.mark.parametrize("options, code", [
    (MEMORY, "try:\n    b'x' * (1 << 31)\nexcept MemoryError:\n    'went on'"),
    (PROCESSES, "import os\nn = 0\ntry:\n    for n in range(50):\n"
                "        if os.fork() == 0: __import__('time').sleep(30)\nexcept BlockingIOError:\n"
                "    pass\nassert n < 9\n'went on'"),
    (("--disk", "4M"), "try:\n    open('f', 'wb').write(b'x' * (8 << 20))\n"
                       "except OSError as e:\n    pass\n'went on'"),
    (("--open-files", "32"), "try:\n    f = [open('/dev/null') for _ in range(100)]\n"
                             "except OSError:\n    pass\n'went on'"),
], ids=["memory", "processes", "disk", "open-files"])
def test_code_may_handle_a_refusal_itself(options, code):
    result = run_json(code + "\n'went on'", *options)
    assert (result["status"], result["value"]) == ("ok", "went on"), result["error"]


@pytest.mark.parametrize("code", [
    "x = open('/dev/shm/f', 'wb')\nfor _ in range(1024): x.write(b'x' * (1 << 20))",
    "import os\nfd = os.memfd_create('m')\nfor _ in range(1024): os.write(fd, b'x' * (1 << 20))",
    "import mmap\nm = mmap.mmap(-1, 1 << 30)\nfor i in range(0, 1 << 30, 4096): m[i] = 1",
    "import socket\np = [socket.socketpair() for _ in range(100)]\n"
    "for a, b in p:\n    a.setblocking(False)\n    a.setsockopt(1, 7, 1 << 30)\n"
    "    try:\n        while True: a.send(b'x' * 65536)\n    except BlockingIOError: pass\n"
    "1 / 0",
], ids=["shm", "memfd", "mmap", "sockets"])
def test_memory_by_another_name_is_bounded(code):
    result = run_json(code, "--memory", "96M", "--disk", "64M", "--timeout", 25)
    assert result["status"] in ("limit", "error", "crashed"), result["status"]


# {file below /proc/sys/net: value}; a kernel need not show them in a namespace of a user's.
BOUNDS = {"core/somaxconn": "128", "unix/max_dgram_qlen": "10", "core/optmem_max": "20480",
          "ipv4/tcp_max_tw_buckets": "4096"}


def test_queues_of_sockets_are_bounded():
    """In a new network namespace, and in one that was handed on."""
    code = ("import os\nplaces = {it: '/proc/sys/net/' + it for it in inputs}\n"
            "{k: open(v).read().strip() for k, v in places.items() if os.path.exists(v)}")
    results = batch([{"code": code, "inputs": {"inputs": list(BOUNDS)}}] * 4, "-j", 1)
    for it in results:
        assert it["status"] == "ok", it["error"]
        assert it["value"].items() <= BOUNDS.items()


@pytest.mark.parametrize("kind", ["tcp", "unix"])
def test_a_hundred_connections_at_once_are_honest(kind):
    """The backlog that asyncio asks for."""
    code = f"""
import asyncio
async def serve(reader, writer):
    writer.write(await reader.read(10))
    writer.close()
if {kind!r} == "tcp":
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    dial = lambda: asyncio.open_connection("127.0.0.1", server.sockets[0].getsockname()[1])
else:
    server = await asyncio.start_unix_server(serve, "socket")
    dial = lambda: asyncio.open_unix_connection("socket")
async def call():
    reader, writer = await dial()
    writer.write(b"x" * 10)
    got = await reader.read()
    writer.close()
    return len(got)
sum(await asyncio.gather(*(call() for _ in range(100))))
"""
    result = run_json(code)
    assert (result["status"], result["value"]) == ("ok", 1000), result["error"]


def test_a_suicide_is_not_a_limit():
    result = run_json("import os\nos.kill(os.getpid(), 9)", *MEMORY)
    assert (result["status"], result["limit"], result["exit_code"]) == ("crashed", None, 137)


def test_defaults_leave_room():
    code = ("x = bytearray(b'x') * (200 << 20)\nopen('f', 'wb').write(b'x' * (100 << 20))\n"
            "import threading\nt = [threading.Thread(target=lambda: None) for _ in range(32)]\n"
            "[a.start() for a in t]\nf = [open('/dev/null') for _ in range(200)]\n'fits'")
    result = run_json(code)
    assert (result["status"], result["value"]) == ("ok", "fits"), result["error"]


# ---- the size of what is asked ----

def test_code_size(tmp_path):
    file = tmp_path / "big.py"
    file.write_text("x = 1\n" + "#" * ((1 << 20) - 7) + "\n")
    assert run_json(None, file)["status"] == "ok"
    file.write_text(file.read_text() + "#")
    for source, given in ((file, None), ("-", file.read_text())):
        result = run_json(None, source, input=given)
        assert (result["status"], result["exit_code"]) == ("failed", 125)
        assert "1 MiB" in result["error"]["message"] or "1048576" in result["error"]["message"]


def test_code_from_an_endless_file():
    done = glovebox("run", "--json", "/dev/zero", timeout=20)
    assert done.returncode in (2, 125)


# ---- neighbours ----

def test_neighbours_in_a_batch_are_unaffected():
    bad = {"timeout": {"code": "while True: pass", "timeout": 1},
           "memory": {"code": EAT, "limits": {"memory": "96M"}},
           "processes": {"code": "import os\nwhile True: os.fork()", "limits": {"processes": 8}},
           "crashed": {"code": "import os\nos.abort()"},
           "error": {"code": "1/0"}}
    good = {"code": "import time\ntime.sleep(.05)\nopen('f', 'w').write('x')\n'fine'"}
    results = batch([r for b in bad.values() for r in (good, b, good)], "-j", 4, "--timeout", 20)
    for at, name in enumerate(bad):
        before, there, after = results[3 * at:3 * at + 3]
        assert (before["value"], after["value"]) == ("fine", "fine")
        assert name in (there["status"], there["limit"])


def test_the_process_limit_is_each_boxes_own():
    """It must not be the sum over the user's processes, which others could use up."""
    hold = ("import os, time\nfor _ in range(6):\n    if os.fork() == 0:\n        time.sleep(60)\n"
            "print('full', flush=True)\ntime.sleep(60)")
    with running("run", *PROCESSES, "-c", hold) as neighbour:
        assert neighbour.stdout.readline() == "full\n"
        assert run_json(hold.replace("print", "raise SystemExit(0)\nprint"),
                        *PROCESSES)["status"] == "ok"
        neighbour.terminate()
        assert until(lambda: neighbour.poll() is not None)


@pytest.mark.parametrize("left", [1, 2])
def test_what_a_child_used_that_is_left_behind_counts(left):
    result = run_json(f"""
import os, time
done, tell = os.pipe()
for _ in range({left}):
    if os.fork() == 0:
        while time.process_time() < 0.3:
            pass
        os.write(1, b'.')
        os.write(tell, b'.')
        while True:
            time.sleep(1)
for _ in range({left}):
    os.read(done, 1)
""", "-t", 60)
    assert result["status"] == "ok", result
    assert result["usage"]["cpu_ms"] >= 200 * len(result["stdout"]), result["usage"]
    assert result["stdout"]


def test_a_larger_disk_has_room_for_more_files():
    code = "import os\nfor i in range(40000): os.mknod(f'f{i}')\nlen(os.listdir())"
    result = run_json(code, "--disk", "512M", "--capture", "off", "--isolation", "namespaces")
    assert (result["status"], result["value"]) == ("ok", 40000)


def test_the_default_of_processes_grows_with_the_processors():
    import os
    wanted = max(64, min(4000, 16 * len(os.sched_getaffinity(0))))
    assert f"{wanted} processes and threads" in glovebox("instructions").stdout
