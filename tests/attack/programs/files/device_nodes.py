"""Make device nodes for the disk and for memory, wherever files can be made.

levels: namespaces landlock
"""

import stat

places = {os.getcwd(), os.environ.get("TMPDIR", "/tmp"), os.environ.get("HOME", "/"), "/dev/shm", "/tmp", "/dev", "/"}
NODES = {
    "null": (1, 3),
    "mem": (1, 1),
    "kmsg": (1, 11),
    "sda": (8, 0),
    "vda": (254, 0),
    "loop0": (7, 0),
    "fuse": (10, 229),
}


def makes(path, kind, device):
    os.mknod(path, kind | 0o666, os.makedev(*device))
    return True


for place in places:
    for name, device in NODES.items():
        for kind in (stat.S_IFCHR, stat.S_IFBLK):
            attempt(f"made {place}/gb-{name}", makes, f"{place}/gb-{name}", kind, device)
verdict()
