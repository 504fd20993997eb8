"""Change a mount that may only be read: by every call that writes, by links, by its parent, by its descriptors.

levels: namespaces landlock
options: -m {ro}:m -o {out}
"""

M = os.environ["GLOVEBOX_MNT"] + "/m"
here = os.getcwd()
file = f"{M}/file"


def opens(flags):
    os.close(os.open(file, flags))
    return True


def done(road, *args):
    road(*args)
    return True


def by_descriptor(flags):
    """A descriptor that may only be read, opened again with more."""
    fd = os.open(file, os.O_RDONLY)
    os.close(os.open(f"/proc/self/fd/{fd}", flags))
    return True


def mapped():
    import mmap

    fd = os.open(file, os.O_RDONLY)
    mmap.mmap(fd, 1, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)[0] = 88
    return True


def remounted():
    syscall("mount_setattr", -100, M.encode(), 0, bytes(32), 32)
    return True


if b"as it was" not in read(file):
    raise RuntimeError("the mount is not there")
for flags in (os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND, os.O_WRONLY | os.O_TRUNC, os.O_RDONLY | os.O_TRUNC):
    attempt(f"opened with {flags:o}", opens, flags)
    attempt(f"reopened with {flags:o}", by_descriptor, flags)
attempt("made a file", lambda: done(os.close, os.open(f"{M}/planted", os.O_CREAT | os.O_WRONLY)))
attempt("made a nameless file", lambda: done(os.close, os.open(M, os.O_TMPFILE | os.O_RDWR)))
attempt("made a directory", done, os.mkdir, f"{M}/planted")
attempt("made a link", done, os.symlink, "/", f"{M}/planted")
attempt("made a FIFO", done, os.mkfifo, f"{M}/planted")
attempt("made a hard link there", done, os.link, file, f"{M}/planted")
attempt("made a hard link here", done, os.link, file, f"{here}/planted")
attempt("moved it away", done, os.rename, file, f"{here}/planted")
attempt("moved it", done, os.rename, file, f"{M}/moved")
attempt("removed it", done, os.unlink, file)
attempt("removed the mount", done, os.rmdir, M)
attempt("moved the mount", lambda: done(os.rename, M, f"{here}/m") and canary["level"] == "namespaces")
attempt("truncated it", done, os.truncate, file, 0)
attempt("changed its mode", lambda: changes(file, os.chmod, file, 0o777))
attempt("changed its mode by a descriptor", lambda: changes(file, lambda: os.fchmod(os.open(file, os.O_RDONLY), 0o777)))
attempt("changed its times", lambda: changes(file, os.utime, file))
attempt("changed its owner", lambda: changes(file, os.chown, file, -1, os.getgid()))
attempt("gave it an attribute", done, os.setxattr, file, "user.planted", b"x")
attempt("wrote through memory", mapped)
attempt("mounted it again", remounted)
for path in canary["files"]:
    for up in ("..", "../..", "../../..", "../../../../.."):
        attempt(f"{up}{path}", lambda up=up, path=path: leaked(read(f"{M}/{up}{path}")))
        attempt(f"{up} cwd", lambda up=up, path=path: leaked(read(f"{M}/{up}/cwd/{os.path.basename(path)}")))
verdict()
