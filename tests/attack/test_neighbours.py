"""One run that takes all it can get must not hurt those beside it in the same engine."""

import json
import subprocess

import pytest

from harness import LEVELS, shape
from host import GLOVEBOX, user_names

# name -> status that it must end with (None: any but failed), code
GREEDY = {
    "memory": ("limit", 'blocks = []\nwhile True:\n    blocks.append(b"x" * (8 << 20))'),
    "processes": (
        None,
        "import os\nfor _ in range(9):\n    try:\n        os.fork()\n    except OSError:\n        pass",
    ),
    "disk": (None, 'out = open("big", "wb")\nfor _ in range(400):\n    out.write(b"x" * (1 << 20))'),
    "output": ("ok", 'import os\nfor _ in range(800):\n    os.write(1, b"x" * 65536)'),
    "processor": ("timeout", "import os\nfor _ in range(4):\n    os.fork()\nwhile True:\n    pass"),
    "files": (None, "import os\nfor it in range(20000):\n    os.close(os.open(str(it), os.O_CREAT))"),
    "kill": (None, "import os, signal\nos.kill(-1, signal.SIGKILL)\nos.kill(os.getpid(), signal.SIGKILL)"),
}
MODEST = """
import os, subprocess
open("mine", "w").write("{0}")
assert os.listdir() == ["mine"]
assert subprocess.run(["true"]).returncode == 0
[sum(range(100000)), "{0}"]
"""
CASES = [(user, level) for user in user_names() for level in LEVELS]


def requests():
    """Greedy and modest runs in turn."""
    limits = {"memory": "128M", "processes": 32, "disk": "32M"}
    for name, (_status, code) in GREEDY.items():
        yield {"id": name, "kind": "python", "code": code, "timeout": 1, "limits": limits}
        for number in range(3):
            yield {"id": f"{name}-{number}", "kind": "python", "code": MODEST.format(f"{name}-{number}"), "timeout": 10}


@pytest.mark.parametrize(("user", "level"), CASES)
def test_others_finish(hosts, user, level):
    host = hosts(user)
    asked = list(requests())
    before = host.snapshot()
    command = [GLOVEBOX, "batch", "--isolation", level, "--policy", "off", "-j", "4", "-"]
    lines = "".join(json.dumps(it) + "\n" for it in asked)
    batch = host.start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    stdout, stderr = batch.communicate(lines.encode(), timeout=60)
    results = [json.loads(line) for line in stdout.splitlines()]
    assert [it.get("id") for it in results] == [it["id"] for it in asked], stderr
    for result in results:
        name = result["id"]
        assert not shape(result, level), result
        if name not in GREEDY:
            assert (result["status"], result["value"]) == ("ok", [4999950000, name]), result
        elif GREEDY[name][0]:
            assert result["status"] == GREEDY[name][0], result
        else:
            assert result["status"] != "failed", result
    assert not host.left(before, "no mark")
    assert not host.complaints()
