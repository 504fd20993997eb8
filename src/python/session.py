"""What a session needs of Python beside what every guest does.

Compiled into the interpreter extension. It runs in the box, beside the code that it serves, and
nothing on the engine's side relies on it.
"""

import linecache
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


def inspect():
    """What the session holds: names, types, sizes."""
    import os
    import threading
    import types

    names, modules, budget = [], [], [SEEN_MAX]
    everything = dict(sys.modules["__main__"].__dict__)
    for name, value in everything.items():
        if name.startswith("__") and name.endswith("__"):
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
