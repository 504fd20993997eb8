"""Allocate much more memory than allowed in one process, and touch all of it.

levels: namespaces landlock
options: -t 5 --memory 128M
expect: ok | limit memory
"""

import time

blocks = []
try:
    for _ in range(64):
        blocks.append(b"\1" * (16 << 20))
    time.sleep(1.5)
    escapes.append("1 GiB in one process")
except MemoryError:
    blocks.clear()
verdict()
