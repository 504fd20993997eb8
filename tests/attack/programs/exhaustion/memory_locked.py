"""Pin memory so that the host can never take it back: mlock, mlockall, huge pages.

levels: namespaces landlock
options: -t 5 --memory 256M
expect: ok | limit memory | crashed
"""

import ctypes
import mmap

libc = ctypes.CDLL(None, use_errno=True)
MCL_ALL, MAP_HUGETLB = 3, 0x40000
try:
    piece = mmap.mmap(-1, 128 << 20)
    address = ctypes.addressof(ctypes.c_char.from_buffer(piece))
    attempt("locked 128 MiB", lambda: libc.mlock(ctypes.c_void_p(address), ctypes.c_size_t(128 << 20)) == 0)
except (OSError, MemoryError):
    pass
attempt("locked everything", lambda: libc.mlockall(MCL_ALL) == 0)
attempt("huge pages", lambda: mmap.mmap(-1, 64 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_HUGETLB))
verdict()
