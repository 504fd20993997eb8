"""Memory that escapes the accounts or reaches other processes: memfd_secret, process_madvise, page moves.

levels: namespaces landlock
control: yes
"""

import ctypes

pid = canary["pid"]
vector = (ctypes.c_uint64 * 2)(canary["address"] & -4096, 4096)


def pidfd():
    try:
        return os.pidfd_open(pid)
    except OSError:
        return -1


forbidden("memfd_secret", 0)
forbidden("memfd_secret", 0x80000)
forbidden("process_madvise", pidfd(), vector, 1, 20, 0)
forbidden("process_madvise", pidfd(), vector, 1, 21, 0)
forbidden("process_mrelease", pidfd(), 0)
forbidden("move_pages", pid, 0, 0, 0, 0, 0, held=(errno.ESRCH,))
forbidden("migrate_pages", pid, 0, 0, 0, held=(errno.ESRCH,))
forbidden("set_mempolicy_home_node", 0, 0, 0, 0)
for path in ("/proc/self/pagemap", "/dev/mem"):
    attempt(f"physical addresses in {path}", lambda path=path: any(read(path, 8)[:6]))
verdict()
