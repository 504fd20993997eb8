"""Fill the kernel's own memory: the longest filters, in every process.

levels: namespaces landlock
options: -t 10 --memory 64M
expect: ok | limit memory | error | crashed
"""

import ctypes
import struct

LENGTH = 4000
STEPS = ctypes.create_string_buffer(struct.pack("HBBI", 0, 0, 0, 7) * (LENGTH - 1) + struct.pack("HBBI", 6, 0, 0, 0x7FFF0000))
PROGRAM = ctypes.create_string_buffer(struct.pack("HxxxxxxP", LENGTH, ctypes.addressof(STEPS)))


def fill():
    n = 0
    libc = ctypes.CDLL(None, use_errno=True)
    for _ in range(4):
        try:
            syscall("seccomp", 1, 0, PROGRAM)
            n += 1
        except OSError:
            pass
        n += libc.prctl(22, 2, PROGRAM, 0, 0) == 0
    return n * LENGTH * 16, None


total = crowd(40, fill)
if total > 12 << 20:
    escapes.append(f"{total >> 20} MiB in filters")
verdict()
