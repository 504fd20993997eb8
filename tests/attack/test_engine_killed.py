"""SIGKILL the engine in the middle of a batch: two seconds later nothing of it is left."""

import json
import os
import secrets
import signal
import subprocess
import time

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
