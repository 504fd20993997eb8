"""What a session needs of Python beside what every guest does.

Compiled into the interpreter extension. It runs in the box, beside the code that it serves, and
nothing on the engine's side relies on it.
"""

import linecache
import os
import stat
import sys

NAMES_MAX = 1000
SEEN_MAX = 100000


def remember(filename, source):
    """Keep a cell's text, so that tracebacks through its functions show their lines later."""
    lines = [line + "\n" for line in source.splitlines()]
    linecache.cache[filename] = (len(source), None, lines, filename)


def open_stdin():
    """A reader of standard input that has read nothing yet."""
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)


def size_of(value, budget):
    """Bytes of the value and, for plain containers, of what is in them, each thing once."""
    total, todo, seen = 0, [value], set()
    while todo and budget[0] > 0:
        budget[0] -= 1
        item = todo.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        total += sys.getsizeof(item)
        kind = type(item)
        if kind in (list, tuple, set, frozenset):
            todo.extend(item)
        elif kind is dict:
            todo.extend(item.keys())
            todo.extend(item.values())
    return total


def is_ours(name, value):
    """Is it what every session finds, and not what its cells have made?"""
    import types

    if isinstance(value, types.BuiltinFunctionType):
        return value.__module__ is None
    return name in ("ToolError", "UnknownToolError") and isinstance(value, type)


def inspect():
    """What the session holds: names, types, sizes."""
    import threading
    import types

    names, modules, budget = [], [], [SEEN_MAX]
    everything = dict(sys.modules["__main__"].__dict__)
    for name, value in everything.items():
        if name.startswith("__") and name.endswith("__") or is_ours(name, value):
            continue
        if isinstance(value, types.ModuleType):
            modules.append(name)
        elif len(names) < NAMES_MAX:
            kind = type(value)
            text = kind.__qualname__
            if kind.__module__ not in ("builtins", "__main__"):
                text = f"{kind.__module__}.{text}"
            entry = {"name": name, "type": text, "bytes": None}
            try:
                entry["bytes"] = size_of(value, budget)
                if hasattr(kind, "__len__"):
                    entry["length"] = len(value)
                shape = getattr(value, "shape", None)
                if isinstance(shape, tuple) and all(isinstance(n, int) for n in shape):
                    entry["shape"] = list(shape)
            except Exception:
                pass
            names.append(entry)
    return {"names": names, "modules": modules[:NAMES_MAX], "cwd": os.getcwd(),
            "threads": threading.active_count()}


ROOT = os.getcwd()


def copy_tree(source, target):
    """Files, directories and links, as they are; what is none of these stays behind."""
    os.mkdir(target, 0o700)
    with os.scandir(source) as entries:
        for entry in entries:
            there = os.path.join(target, entry.name)
            if entry.is_symlink():
                os.symlink(os.readlink(entry.path), there)
            elif entry.is_dir():
                copy_tree(entry.path, there)
            elif entry.is_file():
                with open(entry.path, "rb", 0) as old, open(there, "xb", 0) as new:
                    while piece := old.read(1 << 20):
                        while piece := piece[new.write(piece):]:
                            pass
                try:
                    os.chmod(there, entry.stat().st_mode & 0o777)
                except OSError:
                    pass


def path_of(fd):
    """Of an open file; None where that cannot be known, as at `landlock`."""
    try:
        return os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        return None


def open_files():
    """Descriptors of files and directories, with their paths where those can be known."""
    try:
        numbers = [int(n) for n in os.listdir("/proc/self/fd")]
    except OSError:
        numbers = range(3, os.sysconf("SC_OPEN_MAX"))
    for fd in numbers:
        try:
            mode = os.fstat(fd).st_mode
        except OSError:
            continue
        if fd > 2 and (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            yield fd, path_of(fd)


def reopen(old, new):
    """Files that were open below the old directory: the copies instead, at the same place. Those of
    which that cannot be known, that are deleted, or that lie elsewhere on the other's disk, in its
    TMPDIR say, are closed: nothing of the other's may stay."""
    device, theirs = os.stat(old).st_dev, os.path.dirname(old).rstrip("/") + "/"
    for fd, path in list(open_files()):
        if os.fstat(fd).st_dev != device or path and not path.startswith(theirs):
            continue
        there = -1
        try:
            flags = int(open(f"/proc/self/fdinfo/{fd}").read().split()[3], 8)
            if path == old or path.startswith(old + "/"):
                there = os.open(new + path[len(old):], flags & ~(os.O_CREAT | os.O_EXCL | os.O_TRUNC))
                os.lseek(there, os.lseek(fd, 0, os.SEEK_CUR), os.SEEK_SET)
        except (OSError, AttributeError):
            pass
        if there < 0:
            there = os.open("/", os.O_PATH)
        os.dup2(there, fd, inheritable=False)
        os.close(there)


def mounted():
    """Where the host's directories are, in a box that finds them through links."""
    at = os.environ.get("GLOVEBOX_MNT", "/mnt")
    try:
        return [os.readlink(f"{at}/{name}") for name in os.listdir(at) if os.path.islink(f"{at}/{name}")]
    except OSError:
        return []


def settle_down(own):
    """Move into directories of one's own, with a copy of the workspace. What else is needed."""
    global ROOT
    here = os.getcwd()
    os.makedirs(own, 0o700)
    copy_tree(ROOT, own + "/workspace")
    for name in ("tmp", "home"):
        os.mkdir(f"{own}/{name}", 0o700)
    inside = here == ROOT or here.startswith(ROOT + "/")
    os.chdir(own + "/workspace" + (here[len(ROOT):] if inside else ""))
    reopen(ROOT, own + "/workspace")
    for i, it in enumerate(sys.path):
        if isinstance(it, str) and (it == ROOT or it.startswith(ROOT + "/")):
            sys.path[i] = own + "/workspace" + it[len(ROOT):]
    ROOT = own + "/workspace"
    os.environ.update(TMPDIR=own + "/tmp", HOME=own + "/home")
    if "tempfile" in sys.modules:
        sys.modules["tempfile"].tempdir = None
    return [*mounted(), sys.prefix, sys.base_prefix, sys.exec_prefix, *filter(None, sys.path)]
