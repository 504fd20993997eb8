"""Leave a process that waits in vfork for a child that never starts its program.

levels: namespaces landlock
within: 3
expect: ok | silent | error | crashed
"""

import ctypes
import signal
import time

CLONE_VFORK, CLONE = 0x4000, 56 if os.uname().machine == "x86_64" else 220
libc = ctypes.CDLL(None)
if os.fork() == 0:
    libc.syscall(CLONE, CLONE_VFORK | signal.SIGCHLD, 0, 0, 0, 0)
    time.sleep(600)
    os._exit(0)
time.sleep(0.05)
verdict()
