"""Write into files that have no name any more, so that nobody who counts names finds them.

levels: namespaces landlock
options: -t 8 --disk 32M --memory 128M
expect: ok | limit disk | limit memory | error | crashed
"""

import time

total = 0
kept = []


def unnamed(number):
    if number % 2:
        return os.open(".", os.O_TMPFILE | os.O_RDWR)
    fd = os.open("gone", os.O_RDWR | os.O_CREAT)
    os.unlink("gone")
    return fd


try:
    for number in range(32):
        kept.append(unnamed(number))
        for _ in range(8):
            total += os.write(kept[-1], b"\1" * (1 << 20))
except OSError:
    pass
if total > 128 << 20:
    time.sleep(2)
    escapes.append(f"{total >> 20} MiB in deleted files")
verdict()
