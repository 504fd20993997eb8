"""Control groups: the kernel's own ceiling for a whole box, of whichever version has the controllers here.

Where this host has none that the tests can use, they are left out, and lacking.py says what is missing.
"""
import json
import os
import signal
import time
from pathlib import Path

import pytest
from box import batch, glovebox, run_json, running, until
from lacking import DELEGATE, doctor_on_groups, mounts, root_of_v2
from test_limits import LIMITS
from test_sessions import engine

TOP = Path("/sys/fs/cgroup")
# At this level nothing else holds the memory, so that it is the kernel who ends what takes too much.
ALONE = ("--isolation", "none", "--acknowledge-unsafe", "--policy", "off", "--memory", "48M", "--disk", "1M")
EAT = "x = b'x' * (256 << 20)\n"


def doctor(**kwargs):
    return json.loads(glovebox("doctor", "--json", **kwargs).stdout)["cgroup"]


def point_of(controller):
    """Where the hierarchy of version 1 is that has it."""
    return next(point for point, options in mounts("cgroup") if controller in options)


def groups_of(pid):
    return [it for it, _, _ in os.walk(TOP) if Path(it).name.startswith(f"glovebox-{pid}-")]


def made_for_tests():
    """Of version 2, as root: a group with controllers, which is nobody else's."""
    made = Path(root_of_v2(), f"glovebox-tests-{time.monotonic_ns()}")
    made.mkdir()
    (made / "cgroup.subtree_control").write_text("+memory +pids")
    return made


@pytest.fixture(scope="module")
def group():
    """The options that give every box a control group."""
    found = doctor_on_groups()
    made = None if found["ok"] else made_for_tests()
    yield ("--cgroup", made) if made else () if found["used"] else ("--cgroup", "auto")
    if made:
        made.rmdir()  # and boxes have left nothing in it


# ---- what it holds ----

@pytest.mark.needs("cgroup")
def test_the_result_says_so(group):
    result = run_json("open('/proc/self/cgroup').read()", *group)
    assert "cgroup" in result["isolation"]["layers"] and "/glovebox-" in result["value"]


@pytest.mark.needs("cgroup")
@pytest.mark.parametrize("name", [it for it in LIMITS if LIMITS[it][0] in ("memory", "processes")])
def test_limits_are_named_alike(group, name):
    limit, options, _, code = LIMITS[name]
    result = run_json(code, *options, "--timeout", 25, *group)
    assert (result["status"], result["limit"]) == ("limit", limit), result["error"]


@pytest.mark.needs("cgroup")
@pytest.mark.parametrize("code", [
    EAT,
    f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {EAT!r}])",
    f"import os\nif os.fork() == 0:\n    {EAT}    os._exit(0)\nos.wait()",
], ids=["itself", "a-program", "a-child"])
def test_whoever_the_kernel_kills_it_is_the_limit(group, code):
    result = run_json(code, *ALONE, "--timeout", 15, *group)
    assert (result["status"], result["limit"]) == ("limit", "memory"), result["error"]
    assert "cgroup" in result["isolation"]["layers"] and "watcher" not in result["isolation"]["layers"]


@pytest.mark.needs("cgroup")
def test_connections_of_the_hosts_network(group):
    """What the watcher does not charge there: nobody accepts them, and no descriptor leads to them."""
    code = """
import socket
listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
sent = 0
while sent < 512 << 20:
    with socket.socket() as it:
        it.settimeout(1)
        it.connect(listener.getsockname())
        it.setblocking(False)
        try:
            while True: sent += it.send(bytes(1 << 16))
        except BlockingIOError: pass
"""
    result = run_json(code, "--network", "host", "--memory", "64M", "--disk", "1M", "--timeout", 10, *group)
    assert result["status"] != "ok", "512 MiB were kept"


@pytest.mark.needs("cgroup")
def test_a_session_forgets_what_was_killed(group):
    """A cell that the kernel ended is no reason to blame the next."""
    with engine("none", *ALONE[2:], *group) as e:
        assert e.value("x = 41\nx") == 41
        eaten = e.cell(EAT, timeout=15)
        assert (eaten["status"], eaten["limit"]) == ("limit", "memory"), eaten["error"]
        over = e.cell("import os\nos._exit(3)")
        assert (over["status"], over["limit"], over["exit_code"]) == ("error", None, 3)


@pytest.mark.needs("cgroup")
def test_nothing_is_left(group):
    with running("batch", *group, "-", stdin=-1) as process:
        out, _ = process.communicate("".join(json.dumps({"code": it}) + "\n" for it in (
            "1", "import os\nos.abort()", "import os\nos.fork() or __import__('time').sleep(50)")))
        assert len(out.splitlines()) == 3
        assert until(lambda: not groups_of(process.pid))
    with running("run", "-c", "1", *group) as process:
        process.wait()
        assert not groups_of(process.pid)


@pytest.mark.needs("cgroup")
def test_what_a_killed_engine_left_is_removed_by_the_next(group):
    with running("run", "-c", "import time\nprint(1, flush=True)\ntime.sleep(50)", *group) as process:
        assert process.stdout.readline() == "1\n"
        left = groups_of(process.pid)
        assert left
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert until(lambda: all(not Path(it, "cgroup.procs").read_text() for it in left))
    assert run_json("1", *group)["status"] == "ok"
    assert not groups_of(process.pid)


# ---- where it is ----

def test_doctor_tells_whether_it_is_to_be_had():
    found = doctor()
    assert (found["version"] in ("v1", "v2")) == found["ok"]
    assert found["used"] or (found["cause"] and found["fix"]), found
    assert "Control groups" in glovebox("doctor").stdout
    done = glovebox("run", "--cgroup", "auto", "-c", "1")
    if found["ok"]:
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode in (2, 125) and found["fix"] in done.stderr
        assert found["cause"].removeprefix("cgroup: ") in done.stderr


@pytest.mark.needs("cgroup")
def test_none_is_none(group):
    assert "cgroup" not in run_json("1", "--cgroup", "none")["isolation"]["layers"]


@pytest.mark.parametrize("place, said", [
    ("/tmp", "no control group"), ("/no/such/place", "no control group"), ("autoo", "no control group"),
])
def test_a_wrong_place_is_refused(place, said):
    done = glovebox("run", "--cgroup", place, "-c", "1")
    assert done.returncode in (2, 125) and said in done.stderr and "hint:" in done.stderr


@pytest.mark.needs("cgroup v1")
def test_v1_by_name():
    """The directory of one controller; the other's must have the same name."""
    name = f"glovebox-tests-{os.getpid()}"
    made = [point_of(it) / name for it in ("memory", "pids")]
    made[0].mkdir()
    try:
        refused = glovebox("run", "--cgroup", made[0], "-c", "1")
        assert refused.returncode in (2, 125) and f"mkdir {made[1]}" in refused.stderr
        made[1].mkdir()
        text = run_json("open('/proc/self/cgroup').read()", "--cgroup", made[1])["value"]
        assert text.count(f"/{name}/glovebox-") == 2
    finally:
        for it in made:
            if it.is_dir():
                it.rmdir()


@pytest.mark.needs("cgroup v1")
def test_a_read_only_hierarchy_is_not_used():
    read_only = f'mount -o remount,bind,ro {point_of("memory")} && exec "$@"'
    before = ["unshare", "-m", "sh", "-c", read_only, "sh"]
    found = doctor(before=before)
    assert (found["ok"], found["used"]) == (False, False)
    assert "Read-only" in found["cause"] and "remount" in found["fix"]
    assert run_json("1", before=before)["status"] == "ok"
    refused = glovebox("run", "--cgroup", "auto", "-c", "1", before=before)
    assert refused.returncode in (2, 125) and "Read-only" in refused.stderr


@pytest.mark.needs("cgroup v2")
def test_a_group_that_was_delegated():
    """As systemd does it: the engine itself sits in the group, alone, and makes room in it."""
    made = made_for_tests()
    scope = made / "scope"
    scope.mkdir()
    os.setxattr(scope, "user.delegate", b"1")
    before = ["sh", "-c", f'echo 0 > {scope}/cgroup.procs && exec "$@"', "sh"]
    try:
        result = run_json("open('/proc/self/cgroup').read()", before=before)
        assert "cgroup" in result["isolation"]["layers"] and "/scope/glovebox-" in result["value"]
        (scope / "cgroup.subtree_control").write_text("-memory -pids")
        crowded = ["sh", "-c", f'echo 0 > {scope}/cgroup.procs; "$@"; exit $?', "sh"]
        refused = glovebox("run", "--cgroup", "auto", "-c", "1", before=crowded)
        assert refused.returncode in (2, 125) and "Delegate=yes" in refused.stderr
    finally:
        for it in [*scope.glob("glovebox-*"), scope, made]:
            it.rmdir()


@pytest.mark.needs("a scope of systemd")
def test_a_scope_of_systemd():
    """As docs/limits.md says to get one."""
    assert "cgroup" in run_json("1", before=DELEGATE)["isolation"]["layers"]
    results = batch(["1", "2"], before=DELEGATE)
    assert all("cgroup" in it["isolation"]["layers"] for it in results)
