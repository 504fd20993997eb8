"""Get from a mount that may be written to anywhere else: up, through links, by hard links, by moving it.

levels: namespaces landlock
options: -m {rw}:m:rw -o {out} --capture inline
"""

M = os.environ["GLOVEBOX_MNT"] + "/m"
real = os.path.realpath(M)


def linked_in(path):
    name = f"{M}/hard-{len(os.listdir(M))}"
    os.link(path, name)
    return leaked(read(name))


def through_link(path):
    name = f"{M}/link-{len(os.listdir(M))}"
    os.symlink(path, name)
    return leaked(read(name))


def done(road, *args):
    road(*args)
    return True


def above(path):
    """Beside the mount, by its own directory descriptor."""
    fd = os.open(M, os.O_RDONLY | os.O_DIRECTORY)
    return leaked(read(path, dir_fd=fd))


def renamed_up():
    """A directory that is open while it is moved: ".." must not lead out of the mount."""
    os.makedirs(f"{M}/a/b/c", exist_ok=True)
    fd = os.open(f"{M}/a/b/c", os.O_RDONLY | os.O_DIRECTORY)
    os.rename(f"{M}/a/b/c", f"{M}/c")
    ups = "../" * 8
    return any(leaked(read(f"{ups}{path.lstrip('/')}", dir_fd=fd)) for path in canary["files"])


with open(f"{M}/mine", "w") as out:
    out.write("mine")
for path in canary["files"]:
    attempt(f"hard link to {path}", linked_in, path)
    attempt(f"link to {path}", through_link, path)
    for up in ("..", "../..", "../cwd", "../home"):
        attempt(f"{up} {path}", above, f"{up}/{os.path.basename(path)}")
        attempt(f"{up} {path}", above, f"{up}{path}")
    attempt(f"moved over {path}", lambda path=path: changes(path, os.rename, f"{M}/mine", path))
attempt("a moved directory", renamed_up)
for name in ("ro", "out", "cwd", "planted"):
    attempt(f"made ../{name}", done, os.mkdir, f"{M}/../{name}-planted")
    attempt(f"made a file in ../{name}", lambda name=name: done(os.close, os.open(f"{M}/../{name}/planted", os.O_CREAT)))
attempt("removed the mount", done, os.rmdir, real)
attempt("moved the mount", done, os.rename, real, f"{real}-moved")
attempt("exchanged it for a link", done, os.symlink, "/", real)
# What is left for the engine to stumble over.
for number, target in enumerate(canary["files"]):
    os.symlink(target, f"{M}/link-f{number}")
    os.symlink(os.path.dirname(target), f"{M}/link-d{number}")
os.symlink("link-self", f"{M}/link-self")
os.mkfifo(f"{M}/fifo")
verdict()
