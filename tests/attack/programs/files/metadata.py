"""Change the host's files without opening them: modes, owners, times, attributes, names, length.

Landlock alone does not stop most of these, not even on a descriptor opened with O_PATH.

levels: namespaces landlock
control: yes
"""

import ctypes
import stat

AT_EMPTY_PATH, NOW = 0x1000, 0x3FFFFFFF


def handle(path):
    return os.open(path, os.O_PATH)


def times():
    return (ctypes.c_long * 4)(0, NOW, 0, NOW)


def attribute(path):
    value = ctypes.create_string_buffer(b"x")
    args = (ctypes.c_uint64 * 2)(ctypes.addressof(value), 1)
    syscall("setxattrat", -100, path.encode(), 0, b"user.gb", args, 16)


ROADS = {
    "chmod": lambda path: os.chmod(path, 0o666),
    "fchmodat2": lambda path: syscall("fchmodat2", handle(path), b"", 0o666, AT_EMPTY_PATH),
    "chmod by /proc": lambda path: os.chmod(f"/proc/self/fd/{handle(path)}", 0o666),
    "chown": lambda path: os.chown(path, -1, -1),
    "lchown": lambda path: os.lchown(path, os.getuid(), os.getgid()),
    "fchownat": lambda path: syscall("fchownat", handle(path), b"", -1, -1, AT_EMPTY_PATH),
    "utime": lambda path: os.utime(path),
    "utimensat": lambda path: syscall("utimensat", handle(path), b"", times(), AT_EMPTY_PATH),
    "setxattr": lambda path: os.setxattr(path, "user.gb", b"x"),
    "setxattrat": attribute,
    "file_setattr": lambda path: syscall("file_setattr", -100, path.encode(), bytes(24), 24, 0),
    "truncate": lambda path: os.truncate(path, 0),
    "rename": lambda path: os.rename(path, path + "-moved"),
    "rename into the workspace": lambda path: os.rename(path, os.path.basename(path)),
    "replace": lambda path: os.replace("mine", path),
    "unlink": lambda path: os.unlink(path),
}

with open("mine", "w") as out:
    out.write("mine")
for target in canary["files"]:
    for name, road in ROADS.items():
        attempt(f"{name} {target}", changes, target, road, target)
home = canary["home"]
attempt(f"chmod {home}", changes, home, lambda: os.chmod(home, stat.S_IMODE(os.stat(home).st_mode)))
verdict()
