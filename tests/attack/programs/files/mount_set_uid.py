"""Leave a program in a mount that lends its owner's rights to whoever runs it on the host, or a device.

levels: namespaces landlock
options: -m {rw}:m:rw
"""

import stat

M = os.environ["GLOVEBOX_MNT"] + "/m"
LENT = stat.S_ISUID | stat.S_ISGID
AT_FDCWD, AT_EMPTY_PATH = -100, 0x1000


def lends(path):
    return not stat.S_ISDIR(os.stat(path).st_mode) and os.stat(path).st_mode & LENT


def made(mode, name="new"):
    os.close(os.open(f"{M}/{name}", os.O_CREAT | os.O_WRONLY, mode))
    return lends(f"{M}/{name}")


def changed(mode):
    os.chmod(f"{M}/mine", mode)
    return lends(f"{M}/mine")


def by_descriptor(mode):
    os.fchmod(os.open(f"{M}/mine", os.O_RDWR), mode)
    return lends(f"{M}/mine")


def by_openat2(mode):
    import struct

    how = struct.pack("QQQ", os.O_CREAT | os.O_WRONLY, mode, 0)
    os.close(syscall("openat2", AT_FDCWD, f"{M}/by-openat2-{mode:o}".encode(), how, len(how)))
    return lends(f"{M}/by-openat2-{mode:o}")


def by_fchmodat2(mode):
    syscall("fchmodat2", AT_FDCWD, f"{M}/mine".encode(), mode, 0)
    return lends(f"{M}/mine")


def nameless(mode):
    fd = os.open(M, os.O_TMPFILE | os.O_RDWR, mode)
    os.link(f"/proc/self/fd/{fd}", f"{M}/nameless-{mode:o}", follow_symlinks=True)
    return lends(f"{M}/nameless-{mode:o}")


def copied():
    """A set-uid program of the host, with all that it is."""
    import shutil

    shutil.copy2("/usr/bin/passwd", f"{M}/passwd")
    return lends(f"{M}/passwd")


def in_workspace_then_moved(mode):
    """Made where nobody minds, then moved."""
    with open("moved", "w") as out:
        out.write("#!")
    os.chmod("moved", mode)
    os.rename("moved", f"{M}/moved-{mode:o}")
    return lends(f"{M}/moved-{mode:o}")


def inherited():
    """In a directory that hands its group on."""
    os.mkdir(f"{M}/group", 0o2777)
    os.close(os.open(f"{M}/group/file", os.O_CREAT | os.O_WRONLY, 0o777))
    return lends(f"{M}/group/file")


def with_capabilities():
    os.setxattr(f"{M}/mine", "security.capability", bytes.fromhex("0100000202000000000000000000000000000000"))
    return True


def node(kind, number):
    os.mknod(f"{M}/node", kind | 0o666, os.makedev(*number))
    return True


with open(f"{M}/mine", "w") as out:
    out.write("#!/bin/sh\n")
for mode in (0o4755, 0o2755, 0o6777, 0o4000):
    attempt(f"made {mode:o}", made, mode, f"new-{mode:o}")
    attempt(f"made by openat2 {mode:o}", by_openat2, mode)
    attempt(f"made nameless {mode:o}", nameless, mode)
    attempt(f"changed to {mode:o}", changed, mode)
    attempt(f"changed by descriptor {mode:o}", by_descriptor, mode)
    attempt(f"changed by fchmodat2 {mode:o}", by_fchmodat2, mode)
    attempt(f"made by mknod {mode:o}", lambda mode=mode: os.mknod(f"{M}/n-{mode:o}", stat.S_IFREG | mode) is None)
    attempt(f"moved {mode:o}", in_workspace_then_moved, mode)
attempt("copied", copied)
attempt("inherited", inherited)
attempt("capabilities", with_capabilities)
attempt("a disk", node, stat.S_IFBLK, (8, 0))
attempt("the memory", node, stat.S_IFCHR, (1, 1))
attempt("nothing", node, stat.S_IFCHR, (1, 3))
verdict()
