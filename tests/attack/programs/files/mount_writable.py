"""Use a writable mount as a door: climb from it, follow links in it, leave set-uid files and devices.

levels: namespaces
options: -m {rw}:work:rw -o {out}
"""

import stat

HERE = "/mnt/work"
assert read(f"{HERE}/file") == b"as it was\n"


def climbs(path):
    top = os.open(HERE, os.O_RDONLY | os.O_DIRECTORY)
    return leaked(read("../" * 12 + path.lstrip("/"), dir_fd=top))


def follows(path, number):
    os.symlink(path, f"{HERE}/link-{number}")
    return leaked(read(f"{HERE}/link-{number}"))


def set_uid(mode):
    with open(f"{HERE}/tool", "w") as out:
        out.write("#!/bin/sh\nid\n")
    os.chmod(f"{HERE}/tool", mode)
    return os.stat(f"{HERE}/tool").st_mode & (stat.S_ISUID | stat.S_ISGID)


for number, path in enumerate(canary["files"]):
    attempt(f"climbed to {path}", climbs, path)
    attempt(f"followed to {path}", follows, path, number)
    attempt(f"linked {path}", lambda path=path: os.link(path, f"{HERE}/hard") is None)
for mode in (0o4755, 0o2755, 0o6755):
    attempt(f"left a file of mode {mode:o}", set_uid, mode)
attempt("made a device", lambda: os.mknod(f"{HERE}/null", stat.S_IFCHR | 0o666, os.makedev(1, 3)) is None)
attempt("gave a file to root", lambda: os.chown(f"{HERE}/file", 0, 0) is None)
verdict()
