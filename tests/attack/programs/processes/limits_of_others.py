"""Read and change another process' resource limits, and raise one's own.

levels: namespaces landlock
control: yes
"""

import ctypes
import resource

pid = canary["pid"]
old = (ctypes.c_uint64 * 2)()
tight = (ctypes.c_uint64 * 2)(0, 1 << 20)
for which in range(16):
    attempt(f"read limit {which} of a host process", lambda which=which: syscall("prlimit64", pid, which, 0, old) == 0)
attempt("changed a limit of a host process", lambda: syscall("prlimit64", pid, resource.RLIMIT_CORE, tight, 0) == 0)
for which in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC, resource.RLIMIT_CORE):
    hard = resource.getrlimit(which)[1]
    if hard != resource.RLIM_INFINITY:
        more = (ctypes.c_uint64 * 2)(hard + 1, hard + 1)
        attempt(f"raised limit {which}", lambda which=which, more=more: syscall("prlimit64", 0, which, more, 0) == 0)
verdict()
