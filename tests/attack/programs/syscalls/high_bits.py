"""Smuggle calls past a filter that looks at their arguments: bits above the 32 that the kernel uses.

levels: namespaces landlock
control: yes
"""

import ctypes

NEWUSER, HIGH = 0x10000000, 1 << 32
SOCKET, PRCTL, CLONE, KILL, UNSHARE, PRLIMIT = 41, 157, 56, 62, 272, 302


def positive(call, *args):
    return syscall(call, *args) >= 0


def clones(flags):
    pid = syscall(CLONE, flags, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return True


if os.uname().machine == "x86_64":
    attempt("a vsock with high bits", in_child, positive, SOCKET, 40 | HIGH, 1, 0)
    attempt("a packet socket with high bits", in_child, positive, SOCKET, 17 | HIGH, 3, 0)
    attempt("AF_ALG with high bits", in_child, positive, SOCKET, 38 | HIGH, 5, 0)
    attempt("raw ICMP with high bits", in_child, positive, SOCKET, 2 | HIGH, 3 | HIGH, 1)
    attempt("unshare with high bits", in_child, positive, UNSHARE, NEWUSER | HIGH)
    attempt("no_new_privs undone with high bits", in_child, positive, PRCTL, 38 | HIGH, 0, 0, 0, 0)
    attempt("clone with high bits", in_child, clones, NEWUSER | 17 | HIGH)
    limit = (ctypes.c_uint64 * 2)()
    attempt("prlimit of another with high bits", in_child, positive, PRLIMIT, canary["pid"] | HIGH, 7, 0, limit)
    attempt("kill with high bits", in_child, positive, KILL, canary["pid"] | HIGH, 0)
verdict()
