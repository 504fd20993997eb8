"""Fill memory from a thread whose process has lost its first thread: /proc/PID/status shows nothing of it.

levels: namespaces landlock
options: -t 8 --memory 64M
expect: limit memory
"""

import ctypes
import threading
import time


def fill():
    def work():
        time.sleep(0.3)
        held = bytearray(100 << 20)
        for at in range(0, len(held), 4096):
            held[at] = 1
        time.sleep(5)
        os._exit(0)

    threading.Thread(target=work, daemon=True).start()
    time.sleep(0.02)
    ctypes.CDLL(None).syscall(60, 0)  # exit, of this thread only


for _ in range(4):
    if os.fork() == 0:
        fill()
time.sleep(4)
escapes.append("400 MiB behind dead first threads")
verdict()
