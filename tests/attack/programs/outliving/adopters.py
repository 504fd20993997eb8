"""Adopt orphans in the place of the box' own keeper, and die with them in one's care.

levels: namespaces landlock
within: 3
"""

import ctypes
import time

PR_SET_CHILD_SUBREAPER = 36
libc = ctypes.CDLL(None)
libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
for _ in range(4):
    if os.fork() == 0:
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        for _ in range(3):
            if os.fork() == 0:
                if os.fork() == 0:
                    time.sleep(600)
                os._exit(0)
        time.sleep(600)
        os._exit(0)
time.sleep(0.1)
verdict()
