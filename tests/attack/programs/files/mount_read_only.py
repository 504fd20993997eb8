"""Write through a directory that was mounted read-only and belongs to the user outside.

levels: namespaces
options: -m {ro}:data:ro
"""

import mmap

FILE = "/mnt/data/file"
assert read(FILE) == b"as it was\n"


def maps():
    fd = os.open(FILE, os.O_RDONLY)
    mmap.mmap(fd, 0, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)[0] = 0
    return True


ROADS = {
    "opened": lambda: os.open(FILE, os.O_RDWR) >= 0,
    "appended": lambda: os.open(FILE, os.O_WRONLY | os.O_APPEND) >= 0,
    "created": lambda: os.open("/mnt/data/new", os.O_WRONLY | os.O_CREAT) >= 0,
    "unnamed": lambda: os.open("/mnt/data", os.O_TMPFILE | os.O_RDWR) >= 0,
    "mapped": maps,
    "made a directory": lambda: os.mkdir("/mnt/data/dir") is None,
    "linked": lambda: os.link(FILE, "/mnt/data/link") is None,
    "symlinked": lambda: os.symlink("/", "/mnt/data/symlink") is None,
    "chmod": lambda: changes(FILE, os.chmod, FILE, 0o777),
    "fchmod": lambda: changes(FILE, os.fchmod, os.open(FILE, os.O_RDONLY), 0o777),
    "utime": lambda: changes(FILE, os.utime, FILE),
    "setxattr": lambda: changes(FILE, os.setxattr, FILE, "user.gb", b"x"),
    "truncate": lambda: os.truncate(FILE, 0) is None,
    "rename": lambda: os.rename(FILE, "/mnt/data/other") is None,
    "unlink": lambda: os.unlink(FILE) is None,
    "reopened": lambda: os.open(f"/proc/self/fd/{os.open(FILE, os.O_RDONLY)}", os.O_RDWR) >= 0,
    "remounted": lambda: syscall("mount", b"", b"/mnt/data", b"", 0x1020, b"") == 0,
    "unmounted": lambda: syscall("umount2", b"/mnt/data", 2) == 0,
    "climbed": lambda: any(leaked(read(f"/mnt/data/../../{it}")) for it in canary["files"]),
}
for name, road in ROADS.items():
    attempt(name, road)
verdict()
