"""Use descriptors that leaked from the caller: read, write, climb, control.

levels: namespaces landlock
control: yes
"""

import fcntl
import stat


def same_file(fd):
    node = os.fstat(fd)
    return [node.st_dev, node.st_ino] in canary["inodes"]


def climbs(fd):
    return any(leaked(read("../" * 20 + path.lstrip("/"), dir_fd=fd)) for path in canary["files"])


for fd in range(3, 1024):
    attempt(f"{fd} is a file of the host", same_file, fd)
    attempt(
        f"{fd} holds the secret", lambda fd=fd: stat.S_ISREG(os.fstat(fd).st_mode) and leaked(os.pread(fd, 4096, 0))
    )
    attempt(f"{fd} leads to the host", lambda fd=fd: stat.S_ISDIR(os.fstat(fd).st_mode) and climbs(fd))
    attempt(f"{fd} lists the host", lambda fd=fd: canary["name"] in os.listdir(fd))
    attempt(f"{fd} is a terminal", os.isatty, fd)
    attempt(f"{fd} is a lockable file of the host", lambda fd=fd: fcntl.flock(fd, fcntl.LOCK_NB) or same_file(fd))
verdict()
