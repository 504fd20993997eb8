"""Fill shared memory, keep a page of it and make more: the kernel keeps all of it.

levels: namespaces landlock
options: -t 8 --memory 64M
expect: ok | limit memory | error | crashed
"""

import ctypes
import mmap
import time

PIECE = 16 << 20
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.mremap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int]
libc.mremap.restype = ctypes.c_void_p
FAILED = ctypes.c_void_p(-1).value


def fill(fd, flags):
    at = libc.mmap(None, PIECE, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED | flags, fd, 0)
    if at in (None, FAILED):
        raise OSError(ctypes.get_errno(), "mmap")
    ctypes.memset(at, 1, PIECE)
    return at


def unmapped():
    at = fill(-1, mmap.MAP_ANONYMOUS)
    libc.munmap(at + 4096, PIECE - 4096)


def shrunk():
    libc.mremap(fill(-1, mmap.MAP_ANONYMOUS), PIECE, 4096, 0)


def named():
    at = fill(-1, mmap.MAP_ANONYMOUS)
    libc.prctl(0x53564D41, 0, ctypes.c_void_p(at), ctypes.c_size_t(PIECE), b"heap")
    libc.munmap(at + 4096, PIECE - 4096)


def of_the_device():
    fd = os.open("/dev/zero", os.O_RDWR)
    at = fill(fd, 0)
    os.close(fd)
    libc.munmap(at + 4096, PIECE - 4096)


total = 0
for _ in range(10):
    for way in (unmapped, shrunk, named, of_the_device):
        try:
            way()
            total += PIECE
        except OSError:
            continue
if total > 128 << 20:
    time.sleep(1)
    escapes.append(f"{total >> 20} MiB of shared memory")
verdict()
