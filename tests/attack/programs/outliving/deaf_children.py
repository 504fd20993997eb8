"""Leave children that ignore every signal they can, each in a group of its own.

levels: namespaces landlock
within: 3
"""

import signal
import time

for _ in range(10):
    if os.fork() == 0:
        os.setpgid(0, 0)
        for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                continue
        time.sleep(600)
        os._exit(0)
time.sleep(0.05)
verdict()
