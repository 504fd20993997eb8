"""Which layers hold a box, and what happens on hosts that lack some of them."""
import pytest
from box import GLOVEBOX, RESULT_KEYS, glovebox, run_json, value


def test_auto_takes_the_strongest():
    assert run_json("1")["isolation"] == run_json("1", "--isolation", "namespaces")["isolation"]


def test_the_layers_are_those_of_the_level():
    strong = run_json("1")["isolation"]["layers"]
    weak = run_json("1", "--isolation", "landlock")["isolation"]
    assert weak["level"] == "landlock"
    assert {"landlock", "seccomp", "nnp", "rlimits"} <= set(weak["layers"])
    assert not {"user", "mount", "pid", "net"} & set(weak["layers"])
    assert {"user", "mount", "pid", "net", "landlock"} <= set(strong)


# ---- hosts that lack something ----

@pytest.mark.parametrize("missing, level, wanted", [
    ("userns", "landlock", "auto"), ("namespaces", "landlock", "auto"), ("pivot", "landlock", "auto"),
    ("namespaces", "landlock", "landlock"),
])
def test_what_is_left_is_used_and_named(without, missing, level, wanted):
    result = run_json("40 + 2", "--isolation", wanted, before=without(missing))
    assert (result["status"], result["value"]) == ("ok", 42), result["error"]
    assert result["isolation"]["level"] == level
    assert missing not in result["isolation"]["layers"]


@pytest.mark.parametrize("missing, wanted", [
    (["userns"], "namespaces"), (["namespaces"], "namespaces"), (["pivot"], "namespaces"),
    (["landlock"], "landlock"),
    (["landlock"], "namespaces"), (["landlock"], "auto"),
    (["userns", "landlock"], "auto"), (["namespaces", "landlock"], "auto"),
    (["namespaces", "landlock"], "landlock"),
])
def test_too_little_is_refused(without, missing, wanted):
    """Refused, with a remedy: never run in anything weaker than what was asked for."""
    result = run_json("print('ran')", "--isolation", wanted, before=without(*missing))
    assert (result["status"], result["exit_code"]) == ("failed", 125)
    assert result["stdout"] == "" and set(result) >= RESULT_KEYS
    assert result["error"]["type"] == "no_isolation"
    assert result["error"]["message"] and result["error"]["hint"]
    plain = glovebox("run", "--isolation", wanted, "-c", "print('ran')", before=without(*missing))
    assert (plain.returncode, plain.stdout) == (125, "")
    assert plain.stderr.startswith("glovebox: ") and "\nglovebox: hint: " in plain.stderr


def test_no_box_at_all_must_be_acknowledged():
    done = glovebox("run", "--json", "--isolation", "none", "-c", "print('ran')")
    assert done.returncode in (2, 125, 126) and '"ran' not in done.stdout


# ---- the weaker level holds the same programs ----

@pytest.mark.parametrize("code, expected", [
    ("1 + 1", 2),
    ("import json, re, math, sqlite3, ssl\n1", 1),
    ("open('f', 'w').write('x')\nopen('f').read()", "x"),
    ("import tempfile\nwith tempfile.TemporaryFile() as f: f.write(b'x')\n1", 1),
    ("import subprocess\nsubprocess.run(['echo', 'hi'], capture_output=True, text=True).stdout",
     "hi\n"),
    ("import threading\nt = threading.Thread(target=lambda: None)\nt.start(); t.join()\n1", 1),
    ("import asyncio\nawait asyncio.sleep(0, 3)", 3),
    ("import socket\na, b = socket.socketpair()\na.send(b'x')\nb.recv(1).decode()", "x"),
    ("import os\nos.getuid() != 0", True),
    ("import sys\nsys.stdin.read()", ""),
])
def test_landlock_runs(code, expected):
    assert value(code, "--isolation", "landlock") == expected


@pytest.mark.parametrize("code, options, status, limit", [
    ("1/0", (), "error", None),
    ("while True: pass", ("--timeout", 0.5), "timeout", None),
    ("import os\nif os.fork() == 0:\n    os.setsid()\nwhile True: pass", ("--timeout", 0.5), "timeout",
     None),
    ("import os\nos.abort()", (), "crashed", None),
    ("a = []\nwhile True: a.append(bytearray(1 << 20))", ("--memory", "96M"), "limit", "memory"),
    ("import os\nwhile True: os.fork()", ("--processes", 8), "limit", "processes"),
    ("open('f', 'wb').write(b'x' * (8 << 20))", ("--disk", "4M"), "limit", "disk"),
    ("while True: pass", ("--cpu", 1), "limit", "cpu"),
])
def test_landlock_limits(code, options, status, limit):
    result = run_json("print('kept', flush=True)\n" + code, "--isolation", "landlock", *options)
    assert (result["status"], result["limit"]) == (status, limit), result["error"]
    assert result["stdout"].startswith("kept\n")


@pytest.mark.parametrize("level", ["namespaces", "landlock"])
@pytest.mark.parametrize("code", [
    "open('/etc/shadow').read()", "import os\nos.listdir('/var/log')",
    "open('/etc/passwd', 'a')", "open('/usr/x', 'w')", "import os\nos.setuid(0)",
    "import os\nos.kill(1, 9)\nos.kill(-1, 9)\nimport time\ntime.sleep(1)\n1/0",
    "import socket\nsocket.create_connection(('192.0.2.1', 80), 2)",
    "import os\nos.chroot('.')",
    f"open({GLOVEBOX!r}, 'ab')",
])
def test_each_level_denies(level, code):
    result = run_json(code, "--isolation", level)
    assert result["status"] in ("error", "crashed"), result
    assert result["status"] == "crashed" or result["error"]["type"] in (
        "PermissionError", "FileNotFoundError", "OSError", "ZeroDivisionError", "ProcessLookupError",
        "TimeoutError")
