"""Run away from whoever kills one by one: each process forks its successor and ends at once.

levels: namespaces landlock
within: 3
"""

import time


def run_away():
    os.setsid()
    while True:
        try:
            if os.fork():
                os._exit(0)
        except OSError:
            time.sleep(0.001)


for _ in range(4):
    if os.fork() == 0:
        run_away()
time.sleep(0.1)
verdict()
