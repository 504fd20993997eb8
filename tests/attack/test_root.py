"""Boxes of one engine share the read-only part of their root (sandbox/root.h). None may change it, or leave anything in
it, and it must be what a box has that makes its root alone."""

import json
import subprocess

import pytest

from host import GLOVEBOX, user_names

WARM = 8  # by then boxes get a copy of the common part
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
CHANGE = """
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
        ("remount", 165, (b"none", path.encode(), None, 0x1020, None)),
        ("bind", 165, (b"/tmp", path.encode(), None, 0x1000, None)),
        ("unmount", 166, (path.encode(), 2)),
        ("setattr", 442, (-100, path.encode(), 0, (ctypes.c_uint64 * 4)(0, 1, 0, 0), 32)),
        ("tree", 428, (-100, path.encode(), 1)),
        ("root", 155, (path.encode(), path.encode())),
    ):
        attempt(name, path, call, number, *args)
"""


def warmed(host, *codes):
    """The results of these programs, each with the common part as its root."""
    results = host.batch([{"code": "1"}] * WARM + [{"code": LOOK + it} for it in codes], "-j", "1")
    assert all(it["status"] == "ok" for it in results), [it for it in results if it["status"] != "ok"]
    return [it["value"] for it in results[WARM:]]


@pytest.mark.parametrize("user", user_names())
def test_it_is_what_a_box_makes_alone(hosts, user):
    code = LOOK + "[shared(), listed(), flags()]"
    alone = hosts(user).batch([{"code": code}])[0]["value"]
    common = warmed(hosts(user), "[shared(), listed(), flags()]")[0]
    assert (alone[0], common[0]) == (False, True), "else this would show nothing"
    assert common[1:] == alone[1:]


@pytest.mark.parametrize("user", user_names())
def test_nobody_changes_it(hosts, user):
    look = "[shared(), listed(), flags()]"
    before, done, after = warmed(hosts(user), look, CHANGE + "[shared(), done]", look)
    assert done == [True, []]
    assert before[0] and after == before


@pytest.mark.parametrize("user", user_names())
def test_what_a_box_writes_is_its_own(hosts, user):
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
    before, written, after = warmed(hosts(user), look, write, look)
    assert written is True and before[0]
    assert after == before


def mounts_of(host):
    return host.start(["cat", "/proc/self/mountinfo"], stdout=subprocess.PIPE).communicate()[0]


def test_mounts_do_not_pass_between_it_and_the_host(hosts):
    """Where the host's mounts are shared, as most are, a copy would get what is mounted there later, and the host what
    a box mounts."""
    script = f"""
mount --make-rshared / || exit 1
sleep 0.1
exec 3>&1
coproc ENGINE {{ exec {GLOVEBOX} batch --isolation namespaces --policy off -j 1 -; }}
ask() {{ echo "$1" >&"${{ENGINE[1]}}"; read -r line <&"${{ENGINE[0]}}"; echo "$line" >&3; }}
for i in $(seq {WARM}); do ask '{{"code": "1"}}'; done
before=$(grep -c . /proc/self/mountinfo)
mount -t tmpfs none /usr/share/doc
ask '{{"code": "import os\\n[len(os.listdir(\\"/usr/share/doc\\")), os.stat(\\"/\\").st_dev != os.stat(\\"/tmp\\").st_dev]"}}'
umount /usr/share/doc
[ "$(grep -c . /proc/self/mountinfo)" = "$before" ] || echo "more mounts"
"""
    host = hosts("root")
    before = mounts_of(host)
    process = host.start(["unshare", "-m", "bash", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    stdout, stderr = process.communicate(timeout=60)
    assert b"more mounts" not in stdout, stdout
    results = [json.loads(it) for it in stdout.splitlines()]
    assert len(results) == WARM + 1, (stdout, stderr)
    files, is_common = results[-1]["value"]
    assert is_common and files > 0, results[-1]
    assert mounts_of(host) == before
