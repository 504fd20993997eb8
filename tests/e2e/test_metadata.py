"""Modes, times, attributes and links of files, at the level where no private root hides the host's."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from box import PYTHON, run_json

LEVEL = ("--isolation", "landlock", "--python", PYTHON)

OWN = r"""
import os, shutil, subprocess

for name in ("a", "b"):
    open(name, "w").close()
os.chmod("a", 0o640)
assert os.stat("a").st_mode & 0o777 == 0o640
os.utime("a", (1, 2))
assert os.stat("a").st_mtime == 2
fd = os.open("a", os.O_RDONLY)
os.fchmod(fd, 0o755)
os.utime(fd, ns=(1, 10**9 + 7))
assert os.stat("a").st_mtime_ns == 10**9 + 7 and os.access("a", os.X_OK)
os.utime("a")
assert os.stat("a").st_mtime > 10**9
os.symlink("a", "link")
assert os.readlink("link") == "a" and os.path.realpath("link") == os.path.realpath("a")
os.utime("link", (5, 6), follow_symlinks=False)
assert os.lstat("link").st_mtime == 6 and os.stat("a").st_mtime > 10**9
os.chmod("link", 0o600)
assert os.stat("a").st_mode & 0o777 == 0o600
here = os.open(".", os.O_RDONLY)
os.chmod("b", 0o700, dir_fd=here)
assert os.readlink("link", dir_fd=here) == "a" and os.stat("b").st_mode & 0o777 == 0o700
os.chmod(f"/proc/self/fd/{fd}", 0o750)
assert os.stat("a").st_mode & 0o777 == 0o750
shutil.copy2("a", "c")
shutil.copytree(".", os.environ["TMPDIR"] + "/tree", symlinks=True)
assert os.readlink("/proc/self/exe") and os.readlink("/usr/bin/python3")
for wrong in (lambda: os.chmod("a", 0o4755), lambda: os.chmod("nowhere", 0o600), lambda: os.readlink("a"),
              lambda: os.chmod("", 0o600), lambda: os.utime(99), lambda: os.getxattr("a", "user.x")):
    try:
        wrong()
    except OSError:
        continue
    raise AssertionError(wrong)
steps = ["touch -d yesterday a", "mkdir d && cp -a a d && tar cf t.tar d && mkdir e && tar xf t.tar -C e",
         "install -m 755 a x && test -x x", "sed -i s/x/y/ a"]
if shutil.which("git"):
    steps.append("git init -q r && cd r && git config user.email a@b && git config user.name a && echo 1 >f"
                 " && git add f && git commit -qm x")
for step in steps:
    subprocess.run(["sh", "-c", step], check=True)
print("all")
"""


def test_programs_work():
    result = run_json(OWN, *LEVEL, "--timeout", "20")
    assert (result["status"], result["stdout"]) == ("ok", "all\n"), result


@pytest.fixture
def host():
    """A directory of the host that everybody may enter, with a file that everybody may write to."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        os.chmod(name, 0o755)
        file = Path(name) / "file"
        file.write_text("host")
        file.chmod(0o666)
        (Path(name) / "link").symlink_to("what a link says")
        (Path(name) / "mounted").mkdir()
        (Path(name) / "mounted").chmod(0o755)
        shutil.copy(file, Path(name) / "mounted" / "file")
        (Path(name) / "mounted" / "file").chmod(0o666)
        for it in (file, Path(name) / "mounted" / "file"):
            try:
                os.setxattr(it, "user.gb", b"what an attribute says")
            except OSError:
                continue  # a file system without them
        yield Path(name)


def state(path):
    it = path.stat()
    try:
        names = os.listxattr(path)
    except OSError:
        names = []
    return it.st_mode, it.st_mtime_ns, it.st_ctime_ns, names


ATTACK = r"""
import os

got = []


def attempt(what, road):
    try:
        road()
    except OSError:
        return
    got.append(what)


file, link, inside = HOST + "/file", HOST + "/link", HOST + "/mounted/file"
os.symlink(file, "to_file")
os.symlink(HOST, "to_host")
os.symlink(inside, "to_inside")
fd, handle = os.open(inside, os.O_RDONLY), os.open(file, os.O_PATH)
paths = [file, "to_file", "to_host/file", inside, "to_inside", "../workspace/to_file", fd, f"/proc/self/fd/{fd}",
         f"/dev/fd/{fd}", f"/proc/self/fd/{handle}"]
for it in paths:
    attempt(f"chmod {it}", lambda: os.chmod(it, 0o777))
    attempt(f"utime {it}", lambda: os.utime(it))
    attempt(f"utime to {it}", lambda: os.utime(it, (1, 1)))
    if it != fd:
        attempt(f"setxattr {it}", lambda: os.setxattr(it, "user.new", b"x"))
        attempt(f"removexattr {it}", lambda: os.removexattr(it, "user.gb"))
    if it not in (fd, inside, "to_inside"):
        attempt(f"getxattr {it}", lambda: os.getxattr(it, "user.gb"))
        attempt(f"listxattr {it}", lambda: os.listxattr(it))
there = os.open(HOST, os.O_PATH)
attempt("chmod by directory", lambda: os.chmod("file", 0o777, dir_fd=there))
attempt("utime by directory", lambda: os.utime("file", dir_fd=there))
attempt("hard link", lambda: (os.link(file, "hard"), os.chmod("hard", 0o777)))
for it in (link, "to_host/link", HOST + "/mounted/../link", "/proc/1/exe", "/proc/1/cwd"):
    attempt(f"readlink {it}", lambda: os.readlink(it))
attempt("readlink by directory", lambda: os.readlink("link", dir_fd=there))
attempt("readlink by descriptor", lambda: os.readlink("", dir_fd=os.open(link, os.O_PATH | os.O_NOFOLLOW)))
print(got)
"""


def test_those_of_the_host_are_out_of_reach(host):
    before = [state(it) for it in (host / "file", host / "mounted/file")]
    result = run_json(f"HOST = {str(host)!r}\n{ATTACK}", *LEVEL, "-m", f"{host}/mounted:m:ro")
    assert (result["status"], result["stdout"]) == ("ok", "[]\n"), result
    assert [state(it) for it in (host / "file", host / "mounted/file")] == before


RACE = r"""
import ctypes, os, threading, time

libc = ctypes.CDLL(None)
os.symlink(HOST + "/file", "theirs")
open("mine", "w").close()
open("other", "w").close()
os.rename("theirs", "swapped")
path = ctypes.create_string_buffer(os.fsencode(HOST + "/file"), 4096)
names = [os.fsencode(HOST + "/file") + b"\0", b"mine\0", b"swapped\0"]
number = os.dup(os.open("mine", os.O_RDONLY))
foreign = os.open(HOST + "/mounted/file", os.O_RDONLY)
own = os.open("mine", os.O_RDONLY)
stop = False


def swap():
    while not stop:
        for it in names:
            ctypes.memmove(path, it, len(it))
        libc.syscall(316, -100, b"swapped", -100, b"other", 2)
        os.dup2(foreign, number)
        os.dup2(own, number)


thread = threading.Thread(target=swap)
thread.start()
until, done = time.monotonic() + 1.5, 0
while time.monotonic() < until:
    done += libc.chmod(path, 0o700) == 0
    done += libc.chmod(b"swapped", 0o700) == 0
    done += libc.fchmod(number, 0o700) == 0
stop = True
thread.join()
print(done > 0)
"""


def test_nor_by_a_race(host):
    before = [state(it) for it in (host / "file", host / "mounted/file")]
    result = run_json(f"HOST = {str(host)!r}\n{RACE}", *LEVEL, "-m", f"{host}/mounted:m:ro", "--timeout", "20")
    assert (result["status"], result["stdout"]) == ("ok", "True\n"), result
    assert [state(it) for it in (host / "file", host / "mounted/file")] == before
