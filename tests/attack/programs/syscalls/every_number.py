"""Sweep the numbers that no call has, far beyond the table, negative ones and those with high bits set.

levels: namespaces landlock
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
FAR = {
    1000,
    1024,
    4096,
    65535,
    1 << 20,
    1 << 29,
    (1 << 31) - 1,
    -1,
    -2,
    -100,
    1 << 31,
    (1 << 32) + 165,
    (1 << 63) + 165,
}
ALLOWED = {errno.ENOSYS, errno.EPERM, errno.EACCES}


def answers(call):
    got = libc.syscall(ctypes.c_long(call), 0, 0, 0, 0, 0, 0)
    return got != -1 or ctypes.get_errno() not in ALLOWED


def answer_any(calls):
    return any(answers(call) for call in calls)


high = range(335, 424) if os.uname().machine == "x86_64" else range(295, 424)
attempt("a number without a call", in_child, answer_any, sorted(high))
attempt("a number beyond the table", in_child, answer_any, range(480, 512))
attempt("a number far beyond the table", in_child, answer_any, range(548, 2048))
for call in FAR:
    attempt(f"number {call}", in_child, answers, call)
verdict()
