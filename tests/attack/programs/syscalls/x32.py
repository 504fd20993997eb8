"""Make calls by their x32 numbers, which carry a high bit and share the 64-bit entry.

levels: namespaces landlock
"""

import ctypes

X32 = 0x40000000
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def answers(call):
    got = libc.syscall(ctypes.c_long(call | X32), 0, 0, 0, 0, 0, 0)
    return got != -1 or ctypes.get_errno() not in REFUSED


def any_of(calls):
    return any(answers(call) for call in calls)


attempt("getpid by its x32 number", in_child, answers, 39)
attempt("a socket by its x32 number", in_child, answers, 41)
attempt("unshare by its x32 number", in_child, lambda: libc.syscall(ctypes.c_long(272 | X32), 0x10000000) == 0)
attempt("a call of x32's own", in_child, any_of, range(512, 548))
attempt("an administrator's call by its x32 number", in_child, any_of, [*range(154, 181), 246, 304, 308, 313, 321])
verdict()
