"""Gain capabilities: capset, ambient and inheritable sets, keepcaps, securebits, a new user namespace.

levels: namespaces landlock
control: yes
"""

import ctypes

VERSION, AMBIENT, RAISE, SECUREBITS, NEWUSER = 0x20080522, 47, 2, 28, 0x10000000
libc = ctypes.CDLL(None, use_errno=True)


def capset(effective, permitted, inheritable):
    header = (ctypes.c_uint32 * 2)(VERSION, 0)
    data = (ctypes.c_uint32 * 6)(*(effective, permitted, inheritable) * 2)
    return syscall("capset", header, data) == 0


def has_capabilities():
    header = (ctypes.c_uint32 * 2)(VERSION, 0)
    data = (ctypes.c_uint32 * 6)()
    return libc.capget(header, data) == 0 and any(data)


def by_namespace():
    syscall("unshare", NEWUSER)
    return has_capabilities()


attempt("capset, all", in_child, capset, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF)
attempt("capset, inheritable", in_child, capset, 0, 0, 1)
attempt("capset, permitted", in_child, capset, 0, 0x200000, 0)
attempt("by a user namespace", in_child, by_namespace)
for capability in range(41):
    attempt(f"ambient {capability}", lambda it=capability: libc.prctl(AMBIENT, RAISE, it, 0, 0) == 0)
attempt("securebits", lambda: libc.prctl(SECUREBITS, 0x3F, 0, 0, 0) == 0)
attempt("has capabilities", has_capabilities)
verdict()
