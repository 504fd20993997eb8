"""Take the protection off again by prctl: no_new_privs, the filter, the bounding set, speculation.

levels: namespaces landlock
"""

import ctypes

SET_SECCOMP, SET_NO_NEW_PRIVS, GET_NO_NEW_PRIVS, GET_SECCOMP, SET_MM, SET_KEEPCAPS = 22, 38, 39, 21, 35, 8
libc = ctypes.CDLL(None, use_errno=True)
for value in (0, 2, -1):
    attempt(f"no_new_privs set to {value}", lambda it=value: libc.prctl(SET_NO_NEW_PRIVS, it, 0, 0, 0) == 0)
attempt("no_new_privs is off", lambda: libc.prctl(GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
attempt("the filter was replaced", in_child, lambda: libc.prctl(SET_SECCOMP, 0, 0, 0, 0) == 0)
attempt("the filter is off", lambda: libc.prctl(GET_SECCOMP, 0, 0, 0, 0) != 2)
for field in range(1, 15):
    attempt(f"moved the memory map, {field}", in_child, lambda it=field: libc.prctl(SET_MM, it, 0x10000, 0, 0) == 0)
attempt("", lambda: libc.prctl(SET_KEEPCAPS, 1, 0, 0, 0) != 0)
attempt("became root", in_child, lambda: os.setresuid(0, 0, 0) or True)
for flag in (0x1, 0x2, 0x4):
    forbidden("lsm_set_self_attr", 100, bytes(64), 64, flag)
attempt("wrote our label", lambda: os.write(os.open("/proc/self/attr/exec", os.O_WRONLY), b"exec unconfined") > 0)
verdict()
