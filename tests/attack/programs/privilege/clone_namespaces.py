"""The same by clone and clone3, whose flags a filter sees in other places or not at all.

levels: namespaces landlock
control: yes
"""

import ctypes
import signal
import subprocess

KINDS = {"user": 0x10000000, "mount": 0x20000, "pid": 0x20000000, "net": 0x40000000, "ipc": 0x8000000, "uts": 0x4000000}
INTO_CGROUP, PARENT, UNTRACED = 0x200000000, 0x8000, 0x800000


def born(pid):
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return True


def clone(flags):
    return born(syscall("clone", flags | signal.SIGCHLD, 0, 0, 0, 0))


def clone3(flags, cgroup=0):
    args = (ctypes.c_uint64 * 11)(flags, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, cgroup)
    return born(syscall("clone3", args, 88))


for name, kind in KINDS.items():
    for flags in (kind, kind | KINDS["user"], kind | KINDS["user"] | UNTRACED, kind | 1 << 40):
        attempt(f"clone with a {name} namespace", in_child, clone, flags)
        attempt(f"clone3 with a {name} namespace", in_child, clone3, flags)
attempt("clone3 into a control group", in_child, clone3, INTO_CGROUP, os.open(".", os.O_PATH))
for command in (["unshare", "-Ur", "true"], ["unshare", "-r", "-n", "true"], ["bwrap", "--ro-bind", "/", "/", "true"]):
    attempt(" ".join(command), lambda it=command: subprocess.run(it, capture_output=True).returncode == 0)
verdict()
