"""Read and write other processes' memory through /proc/PID/mem, and learn its layout from maps.

levels: namespaces landlock
control: yes
"""

import glob
import re

KINDS = "maps smaps numa_maps pagemap stack syscall personality io patch_state"
family = {os.getpid()}


def memory(pid, flags):
    return os.open(f"/proc/{pid}/mem", flags) >= 0


def secret(pid):
    fd = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
    return leaked(os.pread(fd, 128, canary["address"]))


pids = {int(it[6:]) for it in glob.glob("/proc/[0-9]*") if re.fullmatch(r"/proc/\d+", it)}
for pid in (pids | {1, os.getppid(), canary["pid"]}) - family - {0}:
    attempt(f"opened the memory of {pid}", memory, pid, os.O_RDONLY)
    attempt(f"opened the memory of {pid} for writing", memory, pid, os.O_RDWR)
    attempt(f"read the secret of {pid}", secret, pid)
    for kind in KINDS.split():
        attempt(f"read /proc/{pid}/{kind}", read, f"/proc/{pid}/{kind}", 64)
verdict()
