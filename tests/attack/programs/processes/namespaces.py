"""Join the namespaces of other processes, by /proc/PID/ns and by pidfd.

levels: namespaces landlock
"""

import glob

KINDS = {"user": 0x10000000, "mnt": 0x20000, "pid": 0x20000000, "net": 0x40000000, "ipc": 0x8000000, "uts": 0x4000000}


def joins(path, kind):
    return syscall("setns", os.open(path, os.O_RDONLY), kind) == 0


def joins_process(pid, kind):
    return syscall("setns", os.pidfd_open(pid), kind) == 0


for name, kind in KINDS.items():
    for path in {f"/proc/1/ns/{name}", f"/proc/{canary['pid']}/ns/{name}", *glob.glob(f"/proc/[0-9]*/ns/{name}")}:
        for flag in (0, kind):
            attempt(f"joined {path}", in_child, joins, path, flag)
    for pid in {1, os.getppid(), canary["pid"], os.getpid()} - {0}:
        attempt(f"joined {name} of {pid}", in_child, joins_process, pid, kind)
forbidden("setns", -1, 0)
verdict()
