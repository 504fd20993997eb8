"""Boxes of one engine share the read-only part of their root (sandbox/root.h). None may change it, or leave anything in
it, and it must be what a box has that makes its root alone."""

import json
import os
import platform
import subprocess
from pathlib import Path

import pytest

from host import GLOVEBOX, user_names

WARM = 8  # by then boxes get a copy of the common part, from Linux 6.15 on
HAS_COPIES = tuple(int(n) for n in platform.release().split("-")[0].split(".")[:2]) >= (6, 15)
WITHOUT = [str(Path(__file__).resolve().parents[1] / "without"), "copies", "--"]
# An ordinary user's zygote makes one only where all mounts are passed on to copies of the mount table, as systemd has it.
SHARED = ["unshare", "-m", "--propagation", "shared", "setpriv", "--clear-groups"]
MOUNT, UMOUNT, PIVOT_ROOT = {"x86_64": (165, 166, 155), "aarch64": (40, 39, 41)}[platform.machine()]
# All that is there but for files of /usr and /proc: kind, mode, what it says. Owners differ: they are the engine's user
# for a common part, and the box's own user else, and nobody in particular to programs in either.
LOOK = """
import hashlib, os, stat
def look(path):
    it = os.lstat(path)
    says = os.readlink(path) if stat.S_ISLNK(it.st_mode) else ""
    if stat.S_ISREG(it.st_mode):
        says = hashlib.sha256(open(path, "rb").read()).hexdigest()
    return [oct(it.st_mode), says]
def listed():
    seen = {}
    for where, folders, names in os.walk("/"):
        folders[:] = [it for it in folders if os.path.join(where, it) not in ("/usr", "/proc")]
        for name in folders + names:
            path = os.path.join(where, name)
            seen[path] = look(path)
    return seen
def shared():
    mine = {os.stat(it).st_dev for it in ("/workspace", "/proc", "/dev/pts")}
    return os.stat("/").st_dev not in mine
def flags():
    lines = [it.split() for it in open("/proc/self/mountinfo")]
    return sorted([it[4], it[5], it[6 : it.index("-")], it[it.index("-") + 1]] for it in lines)
"""
# Whatever changes a directory or what is in it, tried on all of them.
CHANGE = f"""
MOUNT, UMOUNT, PIVOT_ROOT = {MOUNT}, {UMOUNT}, {PIVOT_ROOT}
""" + """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
done = []
def attempt(what, path, fn, *args, **named):
    try:
        fn(*args, **named)
    except OSError:
        return
    done.append([what, path])
def call(*args):
    if libc.syscall(*args) < 0:
        raise OSError(ctypes.get_errno(), "refused")
open("/tmp/new", "w").close()
own = ("/workspace", "/tmp", "/home/box", "/dev/shm", "/dev/pts", "/proc", "/usr")
for path in ["/", *listed()]:
    if path.startswith(own) or path.startswith("/dev/") and not os.path.islink(path):
        continue
    new = os.path.join(path if os.path.isdir(path) else os.path.dirname(path), "left")
    if not os.path.islink(path):  # these would follow it
        attempt("open", path, os.open, path, os.O_WRONLY)
        attempt("mode", path, os.chmod, path, 0o777)
        attempt("attribute", path, os.setxattr, path, "user.left", b"x")
        attempt("truncate", path, os.truncate, path, 0)
    attempt("create", new, os.open, new, os.O_CREAT | os.O_WRONLY)
    attempt("mkdir", new, os.mkdir, new)
    attempt("symlink", new, os.symlink, "x", new)
    attempt("link", new, os.link, "/etc/passwd", new)
    attempt("fifo", new, os.mkfifo, new)
    attempt("rename", path, os.rename, path, "/tmp/taken")
    attempt("rename over", path, os.rename, "/tmp/new", path)
    attempt("unlink", path, os.unlink, path)
    attempt("rmdir", path, os.rmdir, path)
    attempt("owner", path, os.chown, path, os.getuid(), os.getgid(), follow_symlinks=False)
    attempt("times", path, os.utime, path, (0, 0), follow_symlinks=False)
    for name, number, args in (
        ("remount", MOUNT, (b"none", path.encode(), None, 0x1020, None)),
        ("bind", MOUNT, (b"/tmp", path.encode(), None, 0x1000, None)),
        ("unmount", UMOUNT, (path.encode(), 2)),
        ("setattr", 442, (-100, path.encode(), 0, (ctypes.c_uint64 * 4)(0, 1, 0, 0), 32)),
        ("tree", 428, (-100, path.encode(), 1)),
        ("root", PIVOT_ROOT, (path.encode(), path.encode())),
    ):
        attempt(name, path, call, number, *args)
"""


def engines():
    """Whose engine it is, where, and whether its boxes have a common part."""
    for user in user_names():
        yield pytest.param(user, [], HAS_COPIES and user == "root", id=user)
        yield pytest.param(user, WITHOUT, False, id=user + "-without")
    if os.getuid() == 0:
        yield pytest.param("user", SHARED, HAS_COPIES, id="user-shared")


def before(hosts, user, command):
    if user != "user":
        return hosts(user), command
    other = hosts(next(it for it in user_names() if it != "root"))
    return hosts("root"), [*command, "--reuid", other.user.pw_name, "--regid", str(other.user.pw_gid), "--"]


def warmed(hosts, user, command, *codes):
    """The results of these programs, each of a box that an engine makes when it has made some."""
    host, command = before(hosts, user, command)
    requests = [{"code": "1"}] * WARM + [{"code": LOOK + it} for it in codes]
    results = host.batch(requests, "-j", "1", before=command)
    assert all(it["status"] == "ok" for it in results), [it for it in results if it["status"] != "ok"]
    return [it["value"] for it in results[WARM:]]


@pytest.mark.parametrize("user, command, is_common", engines())
def test_it_is_what_a_box_makes_alone(hosts, user, command, is_common):
    look = "[shared(), listed(), flags()]"
    host, prefix = before(hosts, user, command)
    alone = host.batch([{"code": LOOK + look}], before=prefix)[0]["value"]
    later = warmed(hosts, user, command, look)[0]
    assert (alone[0], later[0]) == (False, is_common)
    assert later[1:] == alone[1:]


@pytest.mark.parametrize("user, command, is_common", engines())
def test_nobody_changes_it(hosts, user, command, is_common):
    look = "[shared(), listed(), flags()]"
    first, done, last = warmed(hosts, user, command, look, CHANGE + "[shared(), done]", look)
    assert done == [is_common, []]
    assert first[0] == is_common and last == first


@pytest.mark.parametrize("user, command, is_common", engines())
def test_what_a_box_writes_is_its_own(hosts, user, command, is_common):
    write = """
for it in ("/workspace", "/tmp", "/home/box", "/dev/shm"):
    open(it + "/left", "w").write("x" * 100000)
    os.mkdir(it + "/dir")
shared()
"""
    look = """
free = os.statvfs("/tmp").f_bfree
[shared(), {it: os.listdir(it) for it in ("/workspace", "/tmp", "/home/box", "/dev/shm")}, free]
"""
    first, written, last = warmed(hosts, user, command, look, write, look)
    assert written == first[0] == is_common
    assert last == first


def mounts_of(host):
    return host.start(["cat", "/proc/self/mountinfo"], stdout=subprocess.PIPE).communicate()[0]


def in_a_room_of_its_own(host, *steps):
    """What boxes of one engine answer, in a mount table that the steps between them change."""
    ask = 'ask() { echo "$1" >&"${ENGINE[1]}"; read -r line <&"${ENGINE[0]}"; echo "$line"; }'
    engine = f"coproc ENGINE {{ exec {GLOVEBOX} batch --isolation namespaces --policy off -j 1 -; }}"
    warm = """for i in $(seq %d); do ask '{"code": "1"}'; done""" % WARM
    script = "\n".join(["set -e", steps[0], engine, ask, warm, *steps[1:]])
    process = host.start(["unshare", "-m", "bash", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    stdout, stderr = process.communicate(timeout=60)
    results = [json.loads(it) for it in stdout.splitlines()]
    assert process.returncode == 0 and all(it["status"] == "ok" for it in results), (stdout, stderr)
    return [it["value"] for it in results[WARM:]]


def asked(code):
    line = json.dumps({"code": "import os\n" + code})
    return f"for i in 1 2 3 4; do ask '{line}' >answer; done; cat answer"


def test_mounts_do_not_pass_between_it_and_the_host(hosts):
    """Where the host's mounts are shared, as most are, a copy would get what is mounted there later, and the host what
    a box mounts. A box that is made later sees it, as it would without a common part."""
    look = asked('[len(os.listdir("/usr/share/doc")), os.stat("/").st_dev != os.stat("/tmp").st_dev]')
    before = mounts_of(hosts("root"))
    first, second, third = in_a_room_of_its_own(
        hosts("root"), "mount --make-rshared /; cd $(mktemp -d); mkdir new; touch new/one", look,
        "n=$(grep -c . /proc/self/mountinfo); mount --bind new /usr/share/doc", look, "umount /usr/share/doc", look,
        '[ "$(grep -c . /proc/self/mountinfo)" = "$n" ]')
    assert (first[1], second, third) == (HAS_COPIES, [1, HAS_COPIES], first)
    assert mounts_of(hosts("root")) == before


def test_what_is_replaced_on_the_host_is_so_in_boxes(hosts):
    look = asked('len(os.listdir("/etc/alternatives"))')
    first, second = in_a_room_of_its_own(
        hosts("root"), "cd $(mktemp -d); cp -a /etc etc; mount --bind etc /etc", look,
        "mv /etc/alternatives /etc/before; mkdir /etc/alternatives; touch /etc/alternatives/one", look)
    assert first > 1 and second == 1
