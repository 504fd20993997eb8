"""Be root after all: by user id, group, capability, or as a mapped id that is root outside.

levels: namespaces landlock
"""

import ctypes

PR_GET_SECCOMP, PR_GET_NO_NEW_PRIVS, PR_CAP_AMBIENT, IS_SET, CAPGET_VERSION = 21, 39, 47, 1, 0x20080522
libc = ctypes.CDLL(None, use_errno=True)


def capabilities():
    header = (ctypes.c_uint32 * 2)(CAPGET_VERSION, 0)
    data = (ctypes.c_uint32 * 6)()
    return libc.capget(header, data) == 0 and any(data)


def outside(kind, own):
    """The host's id for one of ours, by the map of our user namespace."""
    for line in read(f"/proc/self/{kind}_map").decode().splitlines():
        inner, outer, count = map(int, line.split())
        if inner <= own < inner + count:
            return outer + own - inner
    return -1


def status(field):
    line = next(it for it in read("/proc/self/status").decode().splitlines() if it.startswith(field + ":"))
    return line.split(":")[1].strip()


ids = {*os.getresuid()}
groups = {*os.getresgid(), *(os.getgroups() if canary["user"] == "root" else ())}
attempt("a capability", capabilities)
attempt("an ambient capability", lambda: any(libc.prctl(PR_CAP_AMBIENT, IS_SET, it, 0, 0) == 1 for it in range(41)))
attempt("new privileges are possible", lambda: libc.prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
attempt("no filter", lambda: libc.prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 2)
if canary["level"] == "namespaces":
    attempt("user is the host's root", lambda: 0 in {outside("uid", it) for it in ids})
    attempt("group is the host's root", lambda: 0 in {outside("gid", it) for it in groups})
    attempt("status: new privileges", lambda: status("NoNewPrivs") != "1")
    attempt("status: no filter", lambda: status("Seccomp") != "2")
    for field in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        attempt(f"status: {field}", lambda field=field: int(status(field), 16) != 0)
else:
    attempt("user is root", lambda: 0 in ids)
    attempt("group is root", lambda: 0 in groups)
verdict()
