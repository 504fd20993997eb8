"""Climb out of the workspace: write beside it, list its parent, move it away, delete it from outside.

levels: namespaces landlock
"""

here = os.getcwd()


def creates(path):
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    return True


def shared(place):
    """Whether a place above the workspace is more than this box' own."""
    if canary["level"] == "namespaces":
        return place not in ("/tmp", os.environ.get("HOME"), os.environ.get("TMPDIR"))
    return not any(place.startswith(it) for it in ("/tmp/", "/var/tmp/", "/dev/shm/", "/run/"))


for depth in range(1, 12):
    up = "../" * depth
    if shared(os.path.realpath(up)):
        attempt(f"created {up}gb-planted", creates, f"{up}gb-planted")
        attempt(f"made {up}gb-planted-dir", lambda up=up: os.mkdir(f"{up}gb-planted-dir") is None)
        attempt(f"listed {up}", lambda up=up: any("gb-" in it for it in os.listdir(up)))
    for path in canary["files"]:
        attempt(f"read {up}{path}", lambda up=up, path=path: leaked(read(up + path.lstrip("/"))))
above = shared(os.path.dirname(here))
attempt("moved the workspace", lambda: os.rename(here, here + "-moved") is None and above)
attempt("replaced the workspace by a link", lambda: os.symlink("/", here) is None and above)
verdict()
