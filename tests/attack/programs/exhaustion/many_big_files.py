"""Write many files, each below any limit on one file.

levels: namespaces landlock
options: -t 8 --disk 32M
expect: ok | limit disk | limit memory | error | crashed
"""

import time

total = 0
try:
    for number in range(32):
        with open(f"part-{number}", "wb", buffering=0) as out:
            for _ in range(8):
                total += out.write(b"\1" * (1 << 20))
except OSError:
    pass
if total > 128 << 20:
    time.sleep(2)
    escapes.append(f"{total >> 20} MiB in many files")
verdict()
