"""What the guest needs of Python itself, off the fast road: awaiting, errors, the end.

Compiled into the interpreter extension. It runs in the box, beside the code that it serves, and
nothing on the engine's side relies on it.
"""

import sys

LIMIT_BY_ERRNO = {28: "disk", 122: "disk", 27: "disk", 24: "open_files", 23: "open_files"}


def run_async(codes, namespace):
    """Run compiled pieces in order in one event loop; the last one's value."""
    import asyncio

    async def main():
        value = None
        for code in codes:
            value = eval(code, namespace)
            if code.co_flags & 0x80:
                value = await value
        return value

    return asyncio.run(main())


def own_frames_removed(exc, filename):
    """The traceback from the first frame of the program on."""
    tb = exc.__traceback__
    while tb is not None and tb.tb_frame.f_code.co_filename not in (filename, "prelude.py"):
        tb = tb.tb_next
    return tb if tb is not None else exc.__traceback__


def last_line(tb, filename):
    line = None
    while tb is not None:
        if tb.tb_frame.f_code.co_filename == filename:
            line = tb.tb_lineno
        tb = tb.tb_next
    return line


def printable(text):
    """Text that has UTF-8: lone surrogates become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def type_name(exc):
    kind = type(exc)
    if kind.__module__ in ("builtins", "__main__"):
        return kind.__qualname__
    return f"{kind.__module__}.{kind.__qualname__}"


def can_fork():
    import os

    try:
        pid = os.fork()
    except OSError:
        return False
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return True


def limit_of(exc):
    """The limit that an uncaught exception shows to have been hit, or None."""
    if isinstance(exc, MemoryError):
        return "memory"
    if isinstance(exc, RuntimeError) and "can't start new thread" in str(exc):
        # The interpreter says the same where there is no memory for the thread's stack.
        return "memory" if can_fork() else "processes"
    if not isinstance(exc, OSError):
        return None
    if exc.errno == 11 and not can_fork():
        return "processes"
    return LIMIT_BY_ERRNO.get(exc.errno)


def describe(exc, filename):
    """An exception as the result's `error`, with the limit that it stands for."""
    tb = own_frames_removed(exc, filename)
    error = {"type": type_name(exc), "message": "", "line": None, "traceback": ""}
    limit = None
    try:
        error["message"] = printable(str(exc))
        error["line"] = last_line(tb, filename)
        limit = limit_of(exc)
        exc.__traceback__ = tb
        import traceback

        error["traceback"] = printable(
            "".join(traceback.format_exception(type(exc), exc, tb))
        )
    except BaseException:  # memory, descriptors or the library itself may be what is missing
        error["traceback"] = error["traceback"] or f"{error['type']}: {error['message']}\n"
    return error, limit


def source_line(exc, source):
    """The line that a compile-time exception is about; not every stage of compiling keeps it."""
    if getattr(exc, "text", None):
        return exc.text
    lines = source.splitlines()
    line = getattr(exc, "lineno", None) or 0
    return lines[line - 1] if 0 < line <= len(lines) else ""


def source_column(exc, line):
    """Where in the line it is, in characters from 1. The compiler counts bytes, the parser does not."""
    offset = getattr(exc, "offset", None)
    if not offset or exc.text:
        return offset
    return len(line.encode("utf-8", "replace")[: offset - 1].decode("utf-8", "ignore")) + 1


# How a line begins that is for a notebook or a chat, and what to write instead.
FOREIGN_LINES = (
    ("```", "send the code alone, without text around it and without ``` fences"),
    ("!", "this is plain Python without a notebook: run commands with subprocess.run([...]), or as"
          " a shell request"),
    ("%", "this is plain Python without a notebook: do without % commands; import time and use"
          " time.perf_counter() to measure"),
    ("?", "this is plain Python without a notebook: use help(name)"),
)


def syntax_remedy(line, source):
    """What to do about a line that is no Python, where that is known; or None."""
    begins = line.strip()
    for mark, remedy in FOREIGN_LINES:
        if begins.startswith(mark):
            return remedy
    if any(text.lstrip().startswith("```") for text in source.splitlines()):
        return FOREIGN_LINES[0][1]
    return None


def describe_syntax(exc, source):
    """A compile-time exception as a finding."""
    line = source_line(exc, source)
    return {
        "remedy": syntax_remedy(line, source),
        "rule": "syntax",
        "severity": "error",
        "message": printable(str(getattr(exc, "msg", None) or exc))
        or "the code is nested too deeply, or too long, for the interpreter to read",
        "line": getattr(exc, "lineno", None),
        "column": source_column(exc, line),
        "name": type(exc).__name__,
        "source": printable(line),
    }


def odd_encoding(text):
    """A finding if the text declares an encoding in which the interpreter would read it differently."""
    import re

    marked = text.startswith("\ufeff")
    lines = re.split("\r\n|\r|\n", text.lstrip("\ufeff") if marked else text, maxsplit=2)[:2]
    for number, line in enumerate(lines, 1):
        found = re.match(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", line, re.ASCII)
        if found:
            break
        if not re.match(r"^[ \t\f]*(?:#.*)?$", line):
            return None
    else:
        return None
    name = found[1]
    if re.match("utf[-_]?8(-|$)", name.lower()):
        return None
    message = f"the code declares the encoding '{name}', and would read differently in it"
    try:
        if text.encode().decode(name) == text and not marked:
            return None
    except LookupError:
        message = f"unknown encoding: {name}"
    except (UnicodeError, ValueError):
        pass
    return {
        "rule": "encoding",
        "severity": "error",
        "message": message,
        "line": number,
        "column": found.start(1) + 1,
        "name": name,
        "source": line,
        "remedy": "save the file as UTF-8 and drop the declaration",
    }


def exit_code(exc):
    """What the interpreter would exit with for this SystemExit; says what it would say."""
    code = exc.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    print(code, file=sys.stderr)
    return 1


def finish():
    """What happens at the end of every Python program."""
    threading = sys.modules.get("threading")
    if threading is not None:
        threading._shutdown()
    atexit = sys.modules.get("atexit")
    if atexit is not None:
        atexit._run_exitfuncs()


def flush_open_files():
    """Write what files still hold that outlive the program, text before the buffers below it."""
    import gc
    import io

    kinds = (io.TextIOWrapper,), (io.BufferedWriter, io.BufferedRandom, io.BufferedRWPair)
    objects = gc.get_objects()
    for kind in kinds:
        for file in objects:
            if issubclass(type(file), kind):
                try:
                    file.flush()
                except BaseException:  # closed, or its disk is full: CPython says nothing either
                    pass
