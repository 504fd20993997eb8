"""SIGKILL the engine in the middle of a batch: two seconds later nothing of it is left."""

import contextlib
import json
import os
import secrets
import signal
import subprocess
import time
from pathlib import Path

import pytest

from harness import LEVELS
from host import GLOVEBOX, marked, until, user_names

RUNS = 20
CODE = """
import subprocess, time
open("file", "w").write("x" * 100000)
for _ in range(2):
    subprocess.Popen(["sleep", marked], start_new_session=True)
    subprocess.Popen(["sh", "-c", "trap '' TERM INT HUP; sleep " + marked + "; sleep 600"])
time.sleep(600)
"""
CASES = [(user, level) for user in user_names() for level in LEVELS]


def requests(mark):
    """Long runs with children, one JSON object a line."""
    lines = [{"id": str(it), "kind": "python", "code": CODE, "inputs": {"marked": mark}} for it in range(RUNS)]
    return "".join(json.dumps(it) + "\n" for it in lines).encode()


def start(host, level, mark):
    command = [GLOVEBOX, "batch", "--isolation", level, "--policy", "off", "-t", "60", "-j", str(RUNS), "-"]
    engine = host.start(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    engine.stdin.write(requests(mark))
    engine.stdin.close()
    return engine


@pytest.mark.parametrize(("user", "level"), CASES)
def test_nothing_is_left(hosts, user, level):
    host = hosts(user)
    mark = f"600.{secrets.randbelow(10**12):012}"
    before = host.snapshot()
    engine = start(host, level, mark)
    try:
        running = until(lambda: RUNS * 6 - len(marked(mark)) > 0 and engine.poll() is None, 20)
        assert not running and engine.poll() is None, f"the batch did not get going: {marked(mark)}"
    finally:
        os.kill(engine.pid, signal.SIGKILL)
        engine.wait()
    time.sleep(2)
    left = host.left(before, mark)
    complaint = engine.stderr.read().decode(errors="replace")
    engine.stderr.close()
    assert not left, complaint
    assert not host.complaints()


def zygote_of(engine):
    """The engine's child that makes boxes."""
    for pid in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            status = Path(f"/proc/{pid}/status").read_text() if pid.isdigit() else ""
            if "glovebox-zygote\n" in status and f"PPid:\t{engine.pid}\n" in status:
                return int(pid)
    return None


@pytest.mark.parametrize(("user", "level"), CASES)
def test_boxes_that_were_ordered_and_not_made(hosts, user, level):
    """The zygote stands still, orders wait for it, and the engine dies: what was laid out for them goes, too."""
    host = hosts(user)
    before = host.snapshot()
    command = [GLOVEBOX, "batch", "--isolation", level, "--policy", "off", "-j", "8", "-"]
    engine = host.start(command, **{it: subprocess.PIPE for it in ("stdin", "stdout", "stderr")})
    engine.stdin.write(b'{"code": "1"}\n')
    engine.stdin.flush()
    assert json.loads(engine.stdout.readline())["status"] == "ok"
    zygote = zygote_of(engine)
    os.kill(zygote, signal.SIGSTOP)
    engine.stdin.write(b'{"code": "1"}\n' * 8)
    engine.stdin.flush()
    time.sleep(0.5)
    os.kill(engine.pid, signal.SIGKILL)
    engine.wait()
    os.kill(zygote, signal.SIGCONT)
    time.sleep(1)
    assert not host.left(before, "no mark")
    for stream in (engine.stdin, engine.stdout, engine.stderr):
        with contextlib.suppress(BrokenPipeError):
            stream.close()


@pytest.mark.parametrize(("user", "level"), CASES)
def test_sessions_and_tools_go_with_it(hosts, user, level):
    """Forks of forks, daemons in them, commands of tools that left their group: all end with the engine."""
    host = hosts(user)
    mark = f"600.{secrets.randbelow(10**12):012}"
    before = host.snapshot()
    tool = f"slow=(setsid sleep {mark} &); setsid sleep {mark}"
    command = [GLOVEBOX, "batch", "--isolation", level, "--policy", "off", "-t", "60", "--tool", tool, "-"]
    engine = host.start(command, **{it: subprocess.PIPE for it in ("stdin", "stdout", "stderr")})
    spawn = f"import subprocess\nfor _ in range(3): subprocess.Popen(['sleep', '{mark}'], start_new_session=True)\n"
    for request in ({"session": "a", "code": "1"}, {"kind": "session", "session": "a", "op": "fork", "into": "b"},
                    {"kind": "session", "session": "b", "op": "fork", "into": "c"}):
        engine.stdin.write(json.dumps(request).encode() + b"\n")
        engine.stdin.flush()
        assert json.loads(engine.stdout.readline())["status"] == "ok"
    for name in "abc":
        engine.stdin.write(json.dumps({"session": name, "code": spawn + "slow()"}).encode() + b"\n")
    engine.stdin.flush()
    assert not until(lambda: 3 * 3 + 3 * 2 - len(marked(mark)) > 0, 10)
    os.kill(engine.pid, signal.SIGKILL)
    engine.wait()
    time.sleep(1)
    assert not host.left(before, mark)
    for stream in (engine.stdin, engine.stdout, engine.stderr):
        stream.close()
