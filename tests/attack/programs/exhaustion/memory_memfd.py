"""Fill files that exist only in memory and are never mapped, so that no process seems to hold them.

levels: namespaces landlock
options: -t 6 --memory 128M --disk 64M
expect: ok | limit memory | limit disk | error | crashed
"""

import time

total = 0
kept = []
try:
    for number in range(64):
        fd = os.memfd_create(f"hidden-{number}")
        kept.append(fd)
        for _ in range(16):
            total += os.write(fd, b"\1" * (1 << 20))
except (OSError, MemoryError):
    pass
if total >= 384 << 20:
    time.sleep(2)
    escapes.append(f"{total >> 20} MiB in memfds")
verdict()
