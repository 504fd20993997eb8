"""Boxes of one engine begin with the same memory, which lies in a sealed file (python/away.h). What one does to its own
must not be another's."""

import platform

import pytest

from host import user_names

MADVISE, MPROTECT, MREMAP, REMAP = {"x86_64": (28, 10, 25, 216), "aarch64": (233, 226, 216, 234)}[platform.machine()]
LOOK = f"MADVISE, MPROTECT, MREMAP, REMAP = {MADVISE}, {MPROTECT}, {MREMAP}, {REMAP}" + r"""
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
def ranges():
    lines = [it.split() for it in open("/proc/self/maps") if "memfd:glovebox-away" in it]
    return [(*(int(n, 16) for n in it[0].split("-")), it[1]) for it in lines]
away = ranges()
"""
# Each in a program of its own, which need not survive it.
ATTACKS = {
    "writes": """
import signal
for start, end, rights in away:
    if "w" in rights:
        child = os.fork()
        if child == 0:
            signal.setitimer(signal.ITIMER_REAL, 1)  # what comes after it is nobody's guess
            libc.memset(ctypes.c_void_p(start), ord("M"), ctypes.c_size_t(end - start))
            os._exit(0)
        os.waitpid(child, 0)
os._exit(0)
""",
    "writes by force": """
try:
    memory = os.open("/proc/self/mem", os.O_RDWR)
except PermissionError:
    os._exit(0)
os._exit(1)  # which would write to what is not to be written to
""",
    "maps anew": """
child = os.fork()
if child:
    status = os.waitpid(child, 0)[1]
    os._exit(os.WIFEXITED(status) and os.WEXITSTATUS(status))  # it may also have taken away what it needs itself
done = []
for start, end, rights in away:
    size = end - start
    for what, args in (
        ("remove", (MADVISE, start, size, 9)),
        ("not needed", (MADVISE, start, 4096, 4)),
        ("free", (MADVISE, start, 4096, 8)),
        ("protect", (MPROTECT, start, size, 7)),
        ("a second mapping", (MREMAP, start, 0, size, 1, 0)),
        ("pages in another order", (REMAP, start, 4096, 0, 1, 0)),
        ("fork off", (MADVISE, start, size, 16)),
    ):
        if libc.syscall(*(ctypes.c_long(it) for it in args)) >= 0:
            done.append(what)
os._exit(int(bool({"remove", "a second mapping", "pages in another order"} & set(done))))
""",
    "opens it": """
opened = []
for start, end, rights in away:
    for name in os.listdir("/proc/self/fd") + ["../map_files/%x-%x" % (start, end)]:
        path = "/proc/self/fd/" + name
        try:
            to = os.readlink(path)
        except OSError:
            to = ""
        for flags in (os.O_RDWR, os.O_RDONLY):
            try:
                it = os.open(path, flags)
            except OSError:
                continue
            if "away" in to or "map_files" in path:
                opened.append(path)
            os.close(it)
os._exit(int(bool(opened)))
""",
}
# What a program finds there: none of that.
FOUND = """
memory = os.open("/proc/self/mem", os.O_RDONLY)
marks = sum(os.pread(memory, 4, page + 4000) == b"MMMM" for start, end, _ in away for page in range(start, end, 4096))
[len(away) > 0, marks]
"""


@pytest.mark.parametrize("user", user_names())
@pytest.mark.parametrize("name", ATTACKS)
def test_nobody_reaches_the_memory_of_others(hosts, user, name):
    requests = [{"code": LOOK + FOUND}, {"code": LOOK + ATTACKS[name], "timeout": 20}] * 4
    results = hosts(user).batch([*requests, {"code": LOOK + FOUND}], "-j", "2")
    assert all(it["status"] == "ok" and it["value"] == [True, 0] for it in results[::2]), results[::2]
    assert all(it["exit_code"] == 0 for it in results[1::2]), results[1::2]
