"""Copy other processes' descriptors by pidfd_getfd; compare them by kcmp.

levels: namespaces landlock
control: yes
"""


def steals(pid, theirs):
    fd = syscall("pidfd_getfd", os.pidfd_open(pid), theirs, 0)
    return fd >= 0


for pid in {canary["pid"], os.getppid(), 1} - {0}:
    for theirs in range(64):
        attempt(f"took descriptor {theirs} of {pid}", steals, pid, theirs)
    forbidden("kcmp", os.getpid(), pid, 0, 0, 0, held=(errno.ESRCH,))
forbidden("pidfd_getfd", -1, 0, 0)
verdict()
