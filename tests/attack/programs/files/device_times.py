"""Change the times and modes of device nodes, which are the host's own.

levels: namespaces landlock
"""

PATHS = ["/dev/null", "/dev/zero", "/dev/full", "/dev/urandom", "/dev/random"]
if canary["level"] == "namespaces":
    PATHS.append("/proc/keys")  # which /dev/null covers


def roads(path):
    yield "utime", lambda: os.utime(path)
    yield "utime of a link", lambda: os.utime(path, follow_symlinks=False)
    yield "chmod", lambda: os.chmod(path, os.stat(path).st_mode & 0o7777)
    fd = os.open(path, os.O_RDONLY)
    yield "futimens", lambda: os.utime(fd)
    yield "futimens by /proc", lambda: os.utime(f"/proc/self/fd/{fd}")


for path in PATHS:
    before = os.stat(path)
    for name, road in roads(path):
        attempt(f"{name} {path}", lambda it=road: it() is None)
    after = os.stat(path)
    attempt(f"changed {path}", lambda: before.st_ctime_ns != after.st_ctime_ns)
with open("/dev/null", "wb", buffering=0) as out:
    assert out.write(b"x") == 1
verdict()
