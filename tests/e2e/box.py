"""What the end-to-end tests share: ways to start glovebox, and ways to see what it left behind."""
import ctypes
import fcntl
import glob
import json
import os
import select
import signal
import subprocess
import tempfile
import termios
import time
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GLOVEBOX = os.path.abspath(os.environ.get("GLOVEBOX", ROOT / "build/glovebox"))
BUILD = Path(GLOVEBOX).parent
SANITIZED = BUILD.joinpath("libglovebox.so").exists() and \
    b"__asan_init" in BUILD.joinpath("libglovebox.so").read_bytes()
PYTHON = "/usr/bin/python3"
# What a user's environment has, without what the one who runs the tests happens to have.
ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": os.environ.get("HOME", "/"),
       "LANG": "C.UTF-8",
       **{k: v for k, v in os.environ.items() if k in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TMPDIR")}}
RESULT_KEYS = {
    "status", "exit_code", "stdout", "stderr", "stdout_truncated", "stderr_truncated",
    "stdout_bytes", "stderr_bytes", "value", "has_value", "error", "findings", "limit", "files",
    "tool_calls", "session", "outputs", "isolation", "policy", "risk", "usage", "timings",
}


def glovebox(*args, input=None, env=None, cwd=None, timeout=120, text=True, before=()):
    """Run it to its end. `before` is a command that runs it in turn."""
    argv = [*before, GLOVEBOX, *map(str, args)]
    options = {"input": input} if input is not None else {"stdin": subprocess.DEVNULL}
    return subprocess.run(argv, capture_output=True, timeout=timeout, cwd=cwd,
                          env={**ENV, **(env or {})}, text=text, **options)


def run_json(code, *options, **kwargs):
    """The result of `glovebox run --json`. A code of None: the options name it."""
    source = () if code is None else ("-c", code)
    args, dashes, rest = tuple(map(str, options)), (), ()
    if "--" in args:
        at = args.index("--")
        args, dashes, rest = args[:at], ("--",), args[at + 1:]
    done = glovebox("run", "--json", *args, *source, *dashes, *rest, **kwargs)
    assert done.stdout, f"no result; exit {done.returncode}, stderr: {done.stderr}"
    result = json.loads(done.stdout)
    assert done.returncode == result["exit_code"], done.stderr
    return result


def value(code, *options, **kwargs):
    """The value of code that must work."""
    result = run_json(code, *options, **kwargs)
    assert result["status"] == "ok", (result["status"], result["error"], result["stderr"])
    return result["value"]


def batch(requests, *options, **kwargs):
    """One result for each request. A request may be its code, or a line as it is (bytes)."""
    lines = [r if isinstance(r, bytes) else
             json.dumps({"code": r} if isinstance(r, str) else r).encode() for r in requests]
    done = glovebox("batch", *options, "-", input=b"".join(line + b"\n" for line in lines),
                    text=False, **kwargs)
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(results) == len(lines), done.stderr
    return results


@contextmanager
def running(*args, **options):
    """A glovebox that runs meanwhile, in a session of its own."""
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
               "env": ENV, "text": True, **options}
    process = subprocess.Popen([GLOVEBOX, *map(str, args)], start_new_session=True, **options)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in filter(None, (process.stdin, process.stdout, process.stderr)):
            stream.close()


class Terminal:
    """A glovebox with a terminal of its own. Its streams are pipes unless told otherwise."""

    def __init__(self, *args, input=None, env=None, on_terminal=()):
        self.master, slave = os.openpty()
        self.shown = b""
        streams = {name: slave if name in on_terminal else subprocess.PIPE
                   for name in ("stdin", "stdout", "stderr")}
        self.process = subprocess.Popen(
            [GLOVEBOX, *map(str, args)], **streams, env={**ENV, "TERM": "xterm", **(env or {})},
            start_new_session=True, pass_fds=[slave],
            preexec_fn=lambda: fcntl.ioctl(slave, termios.TIOCSCTTY, 0))
        os.close(slave)
        if self.process.stdin:
            self.process.stdin.write(input or b"")
            self.process.stdin.close()

    def shows(self, text, seconds=20):
        """Wait until the terminal has shown this; all that it has shown since the last time."""
        end = time.monotonic() + seconds
        while text.encode() not in self.shown:
            ready = select.select([self.master], [], [], max(0, end - time.monotonic()))[0]
            try:
                piece = os.read(self.master, 65536) if ready else b""
            except OSError:  # nobody holds the other end
                piece = b""
            assert piece, f"never showed {text!r}, but {self.shown!r}"
            self.shown += piece
        shown, _, self.shown = self.shown.partition(text.encode())
        return shown.decode() + text

    def types(self, text):
        os.write(self.master, text.encode())

    def ends(self):
        """Its exit status, and what it wrote to its pipes."""
        out = self.process.stdout.read().decode() if self.process.stdout else ""
        err = self.process.stderr.read().decode() if self.process.stderr else ""
        return self.process.wait(60), out, err

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in filter(None, (self.process.stdout, self.process.stderr)):
            stream.close()
        os.close(self.master)


def until(condition, seconds=10):
    """Whether it came true. Waits in small steps."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


# ---- programs that use the library ----

def compile_c(source, target):
    flags = ["-fsanitize=address,undefined"] if SANITIZED else []
    subprocess.run(["cc", "-std=gnu17", "-Wall", "-Wextra", "-Werror", "-g", *flags,
                    f"-I{ROOT / 'include'}", source, "-o", target, f"-L{BUILD}", "-lglovebox",
                    f"-Wl,-rpath,{BUILD}", "-lpthread"], check=True)
    return target


def run_program(*argv, timeout=120):
    return subprocess.run(argv, env=ENV, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=timeout)


def told(done):
    """What library.c printed, as {name: value}; a name that came twice has its last value."""
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    lines = (line.partition(" ") for line in done.stdout.splitlines())
    return {name: text if name == "version" else json.loads(text) for name, _, text in lines}


# ---- what is left behind ----

def adopt_orphans():
    """Make this process the one that orphans below it go to, so that none escapes our notice."""
    PR_SET_CHILD_SUBREAPER = 36
    assert ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def descendants(pid=None):
    """Living processes below `pid` (this one by default), as {pid: name}."""
    parents, names = {}, {}
    for entry in os.listdir("/proc"):
        try:
            stat = Path("/proc", entry, "stat").read_text() if entry.isdigit() else ""
        except (FileNotFoundError, ProcessLookupError):
            continue
        if stat:
            name, _, rest = stat.partition("(")[2].rpartition(")")
            state, parent = rest.split()[:2]
            parents[int(entry)] = int(parent)
            if state not in "ZX":
                names[int(entry)] = name
    below, todo = set(), [pid or os.getpid()]
    while todo:
        parent = todo.pop()
        found = [p for p, its in parents.items() if its == parent and p not in below]
        below.update(found)
        todo.extend(found)
    return {p: names[p] for p in below if p in names}


def doing(pid):
    """What keeps it, as far as the kernel tells: for the one who has to find out."""
    told = []
    for name in ("stat", "syscall", "wchan", "stack"):
        try:
            told.append(f"{name}: {Path('/proc', str(pid), name).read_text().strip()}")
        except OSError as e:
            told.append(f"{name}: {e.strerror}")
    return "; ".join(told)


def nothing_left(seconds=5):
    """Wait for everything below this process to be gone; what is not is returned, and ended."""
    seen = {}

    def is_gone():
        nonlocal seen
        seen = descendants() or descendants()  # one look misses whoever loses its parent meanwhile
        return not seen

    until(is_gone, seconds)
    left = {pid: f"{name} {doing(pid)}" for pid, name in seen.items()}
    for pid in left:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
    return left


def scratches():
    """Scratch directories of boxes that nobody has locked."""
    found = set()
    for path in glob.glob(f"{tempfile.gettempdir()}/glovebox-box-??????"):
        try:
            fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            found.add(path)
        except BlockingIOError:
            pass
        finally:
            os.close(fd)
    return found
