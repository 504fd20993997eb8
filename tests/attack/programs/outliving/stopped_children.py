"""Leave children that are stopped, traced or waiting on a lock, and cannot hear anything but SIGKILL.

levels: namespaces landlock
within: 3
"""

import ctypes
import signal
import time

libc = ctypes.CDLL(None)
for stop in (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN):
    if os.fork() == 0:
        libc.ptrace(0, 0, 0, 0)
        os.kill(os.getpid(), stop)
        time.sleep(600)
        os._exit(0)
    if os.fork() == 0:
        os.kill(os.getpid(), stop)
        time.sleep(600)
        os._exit(0)
time.sleep(0.1)
verdict()
