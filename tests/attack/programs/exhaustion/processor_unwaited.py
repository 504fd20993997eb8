"""Burn processor time in children that nobody waits for, so that no account of them is kept.

levels: namespaces landlock
options: -t 8 --cpu 1
expect: limit cpu
"""

import signal
import time

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
until = time.time() + 5
while time.time() < until:
    for _ in range(2):
        if os.fork() == 0:
            end = time.time() + 0.3
            while time.time() < end:
                pass
            os._exit(0)
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass
escapes.append("several seconds of processor time")
verdict()
