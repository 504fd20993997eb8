"""Read, clear or quieten the kernel's log.

levels: namespaces landlock
"""

import ctypes
import subprocess

READ, READ_ALL, SIZE_UNREAD, SIZE_BUFFER, CONSOLE_LEVEL = 2, 3, 9, 10, 8
buffer = ctypes.create_string_buffer(4096)
for action in (READ_ALL, SIZE_UNREAD, SIZE_BUFFER):
    forbidden("syslog", action, buffer, 4096)
forbidden("syslog", CONSOLE_LEVEL, buffer, 99)
for path in ("/dev/kmsg", "/proc/kmsg", "/var/log/dmesg", "/var/log/kern.log", "/var/log/syslog"):
    attempt(f"read {path}", read, path, 64)
attempt("dmesg", lambda: subprocess.run(["dmesg"], capture_output=True).stdout)
verdict()
