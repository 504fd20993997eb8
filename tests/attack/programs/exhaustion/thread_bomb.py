"""Start threads without end.

levels: namespaces landlock
options: -t 5 --processes 32
expect: ok | limit processes | limit memory | error | crashed
"""

import threading
import time

threading.stack_size(64 << 10)
count = 0
try:
    for _ in range(400):
        threading.Thread(target=time.sleep, args=(3,), daemon=True).start()
        count += 1
except (RuntimeError, MemoryError):
    pass
if count > 64:
    time.sleep(1)
    escapes.append(f"{count} threads")
verdict()
finish(0)
