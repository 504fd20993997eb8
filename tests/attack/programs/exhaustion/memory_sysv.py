"""Fill System V shared memory and detach it: it stays, and no process seems to hold it.

levels: namespaces landlock
options: -t 6 --memory 128M
expect: ok | limit memory | error | crashed
"""

import ctypes
import time

PIECE = 32 << 20
total = 0


def hides():
    segment = syscall("shmget", 0, PIECE, 0o1600)
    address = syscall("shmat", segment, 0, 0)
    ctypes.memset(address, 1, PIECE)
    syscall("shmdt", address)
    return True


for _ in range(16):
    try:
        hides()
    except OSError:
        break
    total += PIECE
if total >= 384 << 20:
    time.sleep(2)
    escapes.append(f"{total >> 20} MiB of System V memory")
verdict()
