"""Leave threads that never end, daemons and others, and end the main one past them.

levels: namespaces landlock
options: -t 0.5
within: 4
variants: daemon plain past
expect: ok | timeout
"""

import threading
import time

for _ in range(4):
    threading.Thread(target=time.sleep, args=(600,), daemon=canary["variant"] == "daemon").start()
verdict()
if canary["variant"] == "past":
    finish(0)
