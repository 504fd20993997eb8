"""Leave a daemon: two forks, a new session, no descriptors, no environment, another name.

levels: namespaces landlock
within: 3
"""

import ctypes
import time

libc = ctypes.CDLL(None)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 1024)
        libc.prctl(15, b"kworker/0:0", 0, 0, 0)
        os.chdir("/")
        os.umask(0)
        time.sleep(600)
    os._exit(0)
time.sleep(0.05)
verdict()
