"""Fill anonymous shared mappings and let go of them, while processes that never touched them keep them.

levels: namespaces landlock
options: -t 6 --memory 128M
expect: ok | limit memory | error | crashed
"""

import mmap
import time

PIECE = 64 << 20
total = 0
try:
    for _ in range(8):
        piece = mmap.mmap(-1, PIECE)
        for at in range(0, PIECE, 4096):
            piece[at] = 1
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        piece.close()
        total += PIECE
except (OSError, MemoryError):
    pass
if total >= 512 << 20:
    time.sleep(1.5)
    escapes.append(f"{total >> 20} MiB of shared mappings")
verdict()
