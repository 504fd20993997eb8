"""Make the kernel keep a page of tables for every two megabytes of a mapping that is only read.

levels: namespaces landlock
options: -t 8 --memory 64M
expect: limit memory | error
"""

import ctypes
import time

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
PAGES = 96 << 8  # of tables: 96 MiB
start = libc.mmap(None, PAGES << 21, 1, 0x4022, -1, 0)
if start == ctypes.c_void_p(-1).value:
    raise OSError(ctypes.get_errno(), "mmap")
libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(PAGES << 21), 15)  # no huge pages
for i in range(PAGES):
    ctypes.string_at(start + (i << 21), 1)
time.sleep(2)
escapes.append("96 MiB of page tables")
verdict()
