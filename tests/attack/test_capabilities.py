"""What every process of a box may do by its credentials, read from outside: nothing."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from harness import LEVELS
from host import GLOVEBOX, until, user_names

SETS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
SEALED = ("glovebox-init", "glovebox-guest", "glovebox-copy", "sleep")


def status(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {key: rest.strip() for key, _, rest in (line.partition(":") for line in lines)}


def descendants(pid):
    """Their status, but for those that are not made yet."""
    found, todo = [], [pid]
    while todo:
        at = todo.pop()
        try:
            children = [int(it) for task in os.listdir(f"/proc/{at}/task")
                        for it in Path(f"/proc/{at}/task/{task}/children").read_text().split()]
            found += [status(it) for it in children]
            todo += children
        except (FileNotFoundError, ProcessLookupError):
            continue
    return [it for it in found if it["Name"] in SEALED and it["NoNewPrivs"] == "1" and it["Seccomp"] == "2"]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("user", user_names())
def test_no_capabilities(hosts, user, level):
    host = hosts(user)
    requests = [{"session": "s", "code": "import subprocess\np = subprocess.Popen(['sleep', '60'])"},
                {"kind": "session", "session": "s", "op": "fork", "into": "t"}]
    process = host.start([GLOVEBOX, "batch", "--isolation", level, "--policy", "off", "-"],
                         **{it: subprocess.PIPE for it in ("stdin", "stdout", "stderr")})
    for request in requests:
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["status"] == "ok"
    assert not until(lambda: set(SEALED) - {it["Name"] for it in descendants(process.pid)}, 5)
    # An ordinary user without a namespace cannot empty the bounding set; root, without one, needs
    # its init to be root, to end and remove what another user leaves.
    empty = SETS if level == "namespaces" or user == "root" else [it for it in SETS if it != "CapBnd"]
    for it in descendants(process.pid):
        if it["Name"] != "glovebox-init" or level == "namespaces":
            assert {name: int(it[name], 16) for name in empty} == dict.fromkeys(empty, 0), it["Name"]
    process.stdin.close()
    assert process.wait(20) == 0
    process.stdout.close()
    process.stderr.close()
