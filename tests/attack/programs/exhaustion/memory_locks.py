"""Fill the kernel's own memory: locks on single bytes of many files.

levels: namespaces landlock
options: -t 20 --memory 32M
expect: ok | limit memory | limit open_files | error | crashed
"""

import fcntl
import struct
import time

LOCK = 220  # what the kernel takes for one


def by_process(file, at):
    fcntl.lockf(file, fcntl.LOCK_EX, 1, 2 * at)


def by_open_file(file, at):
    fcntl.fcntl(file, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 2 * at, 1, 0))


kept, count = [], 0
for number in range(240):
    kept.append(open(f"{number}", "wb"))
    for at in range(800):
        try:
            (by_open_file if number % 8 == 0 else by_process)(kept[-1], at)
            count += 1
        except OSError:
            break
if count * LOCK > 36 << 20:
    time.sleep(1)
    escapes.append(f"{count * LOCK >> 20} MiB in locks")
verdict()
