"""Attach to other processes as a debugger: a host process, the parent, process 1.

levels: namespaces landlock
control: yes
"""

import ctypes

ATTACH, SEIZE, PEEKDATA, DETACH = 16, 0x4206, 2, 17


def attaches(request, pid):
    syscall("ptrace", request, pid, 0, 0)
    return True


for pid in {canary["pid"], os.getppid(), 1} - {0}:
    for request in (ATTACH, SEIZE):
        attempt(f"attached to {pid}", in_child, attaches, request, pid)
    forbidden("ptrace", PEEKDATA, pid, 0, ctypes.create_string_buffer(8), held=(errno.ESRCH,))
verdict()
