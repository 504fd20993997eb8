"""Play with signals on a parent's death: turn one's own off, wish for others, outlive the one who set it.

levels: namespaces landlock
within: 3
"""

import ctypes
import signal
import time

PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None)
libc.prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0)
for number in (0, signal.SIGCONT, signal.SIGURG):
    if os.fork() == 0:
        libc.prctl(PR_SET_PDEATHSIG, int(number), 0, 0, 0)
        os.setsid()
        if os.fork():
            os._exit(0)
        libc.prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0)
        time.sleep(600)
        os._exit(0)
time.sleep(0.05)
verdict()
