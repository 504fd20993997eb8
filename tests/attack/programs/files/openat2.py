"""Resolve paths out of the workspace with openat2 and its flags, which other filters forget.

levels: namespaces landlock
control: yes
"""

import ctypes

IN_ROOT, BENEATH, NO_SYMLINKS, CACHED = 0x10, 0x08, 0x04, 0x20


def road(dirfd, path, flags, resolve):
    how = (ctypes.c_uint64 * 3)(flags, 0, resolve)
    fd = syscall("openat2", dirfd, os.fsencode(path), how, 24)
    return leaked(os.read(fd, 4096))


def read_by_handle(path):
    how = (ctypes.c_uint64 * 3)(os.O_PATH, 0, 0)
    fd = syscall("openat2", -100, os.fsencode(path), how, 24)
    return leaked(read(f"/proc/self/fd/{fd}"))


here = os.open(".", os.O_PATH | os.O_DIRECTORY)
top = os.open("/", os.O_PATH | os.O_DIRECTORY)
for number, target in enumerate(canary["files"]):
    os.symlink(target, f"link-{number}")
    for resolve in (0, NO_SYMLINKS, CACHED, IN_ROOT, BENEATH):
        for where, path in ((-100, target), (here, "../" * 30 + target), (top, target[1:]), (here, f"link-{number}")):
            attempt(f"openat2 {path} {resolve:#x}", road, where, path, os.O_RDONLY, resolve)
    attempt(f"openat2 O_PATH {target}", read_by_handle, target)
verdict()
