"""Runs hostile programs against `glovebox run` and looks at the host before and after.

A program is a file in programs/ whose docstring says what it attacks; its last paragraph holds fields:

    levels:   isolation levels that must hold it (namespaces, landlock)
    expect:   statuses that are right, by "|"; `ok` means ok with HELD as the last line of stdout, `silent`
              means ok without a verdict, `limit NAME` names the limit; default: ok
    exit:     the exit code that the result must carry
    options:  more options of `glovebox run`; {ro}, {rw}, {out} and {venv} are directories of this host
    within:   seconds in which the call must return; default: the time limit and three more
    variants: words, each a test of its own, handed to the program as canary["variant"]
    repeat:   how often to run it in a row
    counts:   FIELD NUMBER: this field of the result is at least that number
    tty:      yes: glovebox gets a terminal that it controls
    control:  yes: harmless and real: run without a box by an ordinary user, it must get out
"""

import ast
import base64
import contextlib
import ctypes
import fcntl
import json
import os
import pty
import pwd
import re
import secrets
import select
import shutil
import signal
import subprocess
import tempfile
import termios
import time
from dataclasses import dataclass, field, fields
from pathlib import Path

HERE = Path(__file__).resolve().parent
GLOVEBOX = os.environ.get("GLOVEBOX", str(HERE.parents[1] / "build" / "glovebox"))
PYTHON = "/usr/bin/python3"
LEVELS = ("namespaces", "landlock")
LAYERS = {
    "namespaces": set("user mount pid net ipc uts seccomp landlock nnp caps rlimits".split()),
    "landlock": set("landlock seccomp nnp rlimits".split()),
}
RESULT_KEYS = set(
    "status exit_code stdout stderr stdout_truncated stderr_truncated stdout_bytes stderr_bytes value has_value "
    "error findings limit files tool_calls session outputs isolation policy risk usage timings".split()
)
# What the guest says itself; in everything else no word of its own may appear.
GUESTS_OWN = {"stdout", "stderr", "value", "error", "outputs", "files"}
STREAM_LIMIT = 64 * 1024 + 1024
RESULT_LIMIT = 8 * 1024 * 1024
WATCHED = (
    "/",
    "/tmp",
    "/var/tmp",
    "/dev",
    "/dev/shm",
    "/run",
    "/etc",
    "/usr",
    "/usr/bin",
    "/opt",
    "/srv",
    "/mnt",
    "/var",
)
PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Program:
    path: Path
    levels: tuple = LEVELS
    expect: tuple = ("ok",)
    exit: int = None
    options: tuple = ()
    within: float = None
    variants: tuple = ("",)
    repeat: int = 1
    counts: tuple = ()
    tty: bool = False
    control: bool = False

    @property
    def name(self):
        return f"{self.path.parent.name}/{self.path.stem}"

    @property
    def timeout(self):
        return float(self.options[self.options.index("-t") + 1]) if "-t" in self.options else 5.0

    @property
    def deadline(self):
        return self.within or self.timeout + 3


PARSE = {
    "levels": lambda text: tuple(text.split()),
    "expect": lambda text: tuple(it.strip() for it in text.split("|")),
    "exit": int,
    "options": lambda text: tuple(text.split()),
    "within": float,
    "variants": lambda text: tuple(text.split()),
    "repeat": int,
    "counts": lambda text: (text.split()[0], int(text.split()[1])),
    "tty": lambda text: text == "yes",
    "control": lambda text: text == "yes",
}
assert set(PARSE) == {it.name for it in fields(Program)} - {"path"}


def load(path):
    """A program and what its docstring promises."""
    paragraphs = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))).split("\n\n")
    assert len(paragraphs) > 1, f"{path}: no fields in the docstring"
    pairs = [line.split(":", 1) for line in paragraphs[-1].splitlines()]
    program = Program(path, **{key.strip(): PARSE[key.strip()](value.strip()) for key, value in pairs})
    assert set(program.levels) <= set(LEVELS), f"{path}: unknown level"
    return program


def programs():
    return [load(path) for path in sorted((HERE / "programs").glob("*/*.py"))]


# -- users and processes ---------------------------------------------------------------------------


@dataclass(frozen=True)
class User:
    name: str
    uid: int
    gid: int
    home: str

    def become(self):
        """Arguments of Popen that start a process as this user."""
        if self.uid == os.getuid():
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}


def user_names():
    """Root and an ordinary user; without root's rights, just whoever runs the suite."""
    return ["root", "gbtest"] if os.getuid() == 0 else [pwd.getpwuid(os.getuid()).pw_name]


def user_named(name):
    """An account of this host; the ordinary user for the tests is made when it is missing, and stays."""
    if name == "gbtest" and name not in (it.pw_name for it in pwd.getpwall()):
        subprocess.run(["useradd", "-m", "-s", "/bin/sh", name], check=True)
    entry = pwd.getpwnam(name)
    return User(name, entry.pw_uid, entry.pw_gid, entry.pw_dir)


def adopt_orphans():
    """Whatever a run leaves behind becomes a child of this process, so that it can be found."""
    assert ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def process_table():
    """pid -> (parent, state, start time) of every process of the host."""
    table = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                stat = Path("/proc", entry, "stat").read_text(errors="replace").rpartition(")")[2].split()
                table[int(entry)] = (int(stat[1]), stat[0], int(stat[19]))
    return table


def descendants(table=None):
    """pid and start time of each process below this one that still runs; ended orphans are reaped."""
    table = table or process_table()
    found = set()
    for pid, (parent, state, start) in table.items():
        if state == "Z":
            continue
        while parent > 1 and parent != os.getpid():
            parent = table.get(parent, (0,))[0]
        if parent == os.getpid():
            found.add((pid, start))
    return found


def reap(keep):
    """Wait for ended orphans that were adopted, but for no process in `keep`."""
    for pid, (parent, state, _start) in process_table().items():
        if parent == os.getpid() and state == "Z" and pid not in keep:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def marked(mark):
    """Processes whose command line or environment carries this mark."""
    found = []
    for pid in process_table():
        with contextlib.suppress(OSError):
            text = Path(f"/proc/{pid}/cmdline").read_bytes() + Path(f"/proc/{pid}/environ").read_bytes()
            if mark.encode() in text and pid != os.getpid():
                found.append(pid)
    return found


def until(test, seconds, pause=0.02):
    """Wait until `test` answers nothing; its last answer."""
    end = time.monotonic() + seconds
    while (answer := test()) and time.monotonic() < end:
        time.sleep(pause)
    return answer


def kill_all(processes):
    for pid, _start in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


# -- the host ----------------------------------------------------------------------------------------


@dataclass
class Snapshot:
    """What may not have changed when a run is over."""

    names: dict
    mounts: str
    processes: set

    def new_names(self, directories):
        now = listing(directories)
        return sorted(os.path.join(where, it) for where in now for it in now[where] - self.names.get(where, set()))


def listing(directories):
    names = {}
    for where in directories:
        with contextlib.suppress(OSError):
            names[where] = set(os.listdir(where))
    return names


def mounts():
    return Path("/proc/self/mountinfo").read_text(encoding="utf-8")


def tree(directory):
    """Every file below a directory with all that could be changed about it."""
    found = {}
    for path in sorted(Path(directory).rglob("*")):
        it = path.lstat()
        found[str(path)] = (it.st_mode, it.st_uid, it.st_size, it.st_mtime_ns, it.st_ctime_ns)
    return found


@dataclass
class Outcome:
    """One call of glovebox, seen from outside."""

    status: int
    stdout: bytes
    stderr: bytes
    seconds: float
    complaints: list = field(default_factory=list)
    result: dict = field(default_factory=dict)


class Host:
    """This host as one user has it: secrets planted, watched before and after every run."""

    def __init__(self, name):
        self.user = user = user_named(name)
        self.secret = f"GBS-{secrets.token_hex(20)}"
        self.base = tempfile.mkdtemp(prefix="gb-attack-", dir="/var/tmp")
        os.chmod(self.base, 0o755)
        for name in ("cwd", "out", "ro", "rw", "scratch"):
            self.make(name)
        os.chown(self.base, user.uid, user.gid)
        self.make_venv()
        self.watched = (*WATCHED, user.home, f"{self.base}/cwd")
        self.plant()

    def make(self, name):
        """An empty directory of the user's."""
        path = Path(self.base, name)
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(exist_ok=True)
        if name in ("ro", "rw"):
            (path / "file").write_text("as it was\n")
            os.chown(path / "file", self.user.uid, self.user.gid)
        os.chown(path, self.user.uid, self.user.gid)
        return path

    def make_venv(self):
        command = [PYTHON, "-m", "venv", "--clear", "--without-pip", f"{self.base}/venv"]
        subprocess.run(command, check=True, cwd="/", env=self.environment(), **self.user.become())

    def plant(self):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.canary = self.start_canary(self.user.home, f"{self.base}/cwd", **pipes)
        self.where = json.loads(self.canary.stdout.readline())

    def start_canary(self, *args, **pipes):
        command = [PYTHON, "-I", str(HERE / "canary.py"), *args]
        return subprocess.Popen(
            command,
            cwd=f"{self.base}/cwd",
            env=self.environment(),
            start_new_session=True,
            **pipes,
            **self.user.become(),
        )

    def uproot(self):
        with contextlib.suppress(BrokenPipeError):
            self.canary.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.canary.wait(2)
        self.canary.kill()
        if self.canary.wait() != 0:
            self.start_canary("remove", json.dumps(self.where)).wait()
        self.canary.stdout.close()
        for place in ("/tmp", "/var/tmp", "/dev/shm", self.user.home):
            for path in Path(place).glob(f"{self.where['name']}*"):
                path.unlink()

    def replant(self):
        self.uproot()
        self.make("cwd")
        self.plant()

    def close(self):
        self.uproot()
        shutil.rmtree(self.base, ignore_errors=True)

    def environment(self, **more):
        """The caller's environment, with secrets that must not get into a box."""
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": self.user.home,
            "USER": self.user.name,
            "LANG": "C.UTF-8",
            "GB_CANARY_SECRET": self.secret,
            "AWS_SECRET_ACCESS_KEY": self.secret,
            "SSH_AUTH_SOCK": "/tmp/no-agent",
            **more,
        }

    def complaints(self):
        """What happened to the secrets since the last question; a canary that is hurt is replaced."""
        try:
            self.canary.stdin.write(b"?\n")
            self.canary.stdin.flush()
            answered = select.select([self.canary.stdout], [], [], 3)[0]
            said = json.loads(self.canary.stdout.readline()) if answered else ["a host process was stopped"]
        except (BrokenPipeError, ValueError):
            said = ["a host process was killed"]
        if said:
            self.replant()
        return said

    def snapshot(self):
        return Snapshot(listing(self.watched), mounts(), descendants())

    def could_be_ours(self, path):
        """Whether a new file may come from a run: other accounts of the host are at work, too."""
        try:
            owner = os.lstat(path).st_uid
        except OSError:
            return False
        return owner == self.user.uid or owner not in {it.pw_uid for it in pwd.getpwall()}

    def left(self, before, mark):
        """What a run has left on the host. What is on its way out gets a moment."""
        said = []
        names = [it for it in before.new_names(self.watched) if self.could_be_ours(it)]
        if until(lambda: [it for it in names if os.path.lexists(it)], 1.5):
            said.append(f"files were left: {names[:5]}")
        processes = until(lambda: descendants() - before.processes, 1)
        if processes:
            said.append(f"processes were left: {sorted(processes)[:5]}")
            kill_all(processes)
        reap({self.canary.pid})
        if marked(mark):
            said.append("a process with the mark of the run was left")
        if mounts() != before.mounts:
            said.append("a mount was left")
        return said

    # -- one run -----------------------------------------------------------------------------------

    def canary_input(self, level, variant, fds):
        inodes = self.where["inodes"] + [[os.fstat(fd).st_dev, os.fstat(fd).st_ino] for fd in fds]
        told = {"level": level, "user": "root" if self.user.uid == 0 else "user", "variant": variant}
        return json.dumps({**self.where, **told, "fds": list(fds), "inodes": inodes})

    def attack(self, program, level, variant):
        """Run a program in a box and say all that is wrong."""
        places = {name: f"{self.base}/{name}" for name in ("ro", "rw", "out", "venv")}
        out, rw = self.make("out"), self.make("rw")
        kept = {name: tree(places[name]) for name in ("ro", "venv")}
        mark = f"gb-mark-{secrets.token_hex(8)}"
        before = self.snapshot()
        with self.leaks() as fds:
            command = [GLOVEBOX, "run", "--json", "--isolation", level, "--policy", "off"]
            command += ["--prelude", str(HERE / "prelude.py"), "-e", f"GB_RUN_MARK={mark}"]
            command += ["--input", f"canary={self.canary_input(level, variant, fds)}"]
            command += [] if "-t" in program.options else ["-t", f"{program.timeout:g}"]
            command += [it.format(**places) for it in program.options]
            outcome = self.call([*command, str(program.path)], program, fds, mark)
        outcome.complaints += self.left(before, mark)
        outcome.complaints += self.complaints()
        outcome.complaints += [f"{it} was changed" for it in kept if tree(places[it]) != kept[it]]
        outcome.complaints += self.smuggled(out, rw)
        return outcome

    def unprotected(self, program, variant):
        """Run a program with no box around it."""
        scratch = self.make("scratch")
        own_venv = "{venv}" in " ".join(program.options)
        python = f"{self.base}/venv/bin/python3" if own_venv else PYTHON
        before = descendants()
        with self.leaks() as fds:
            command = [python, "-I", str(HERE / "unprotected.py"), str(HERE / "prelude.py"), str(program.path)]
            command.append(self.canary_input("namespaces", variant, fds))
            outcome = self.call(command, program, fds, "", cwd=str(scratch))
        kill_all(descendants() - before)
        reap({self.canary.pid})
        tampered = [it for it in outcome.complaints if not it.startswith("the call")]
        outcome.complaints = tampered + self.complaints()
        self.replant()
        if own_venv:
            shutil.rmtree(f"{self.base}/venv", ignore_errors=True)
            self.make_venv()
        return outcome

    @contextlib.contextmanager
    def leaks(self):
        """Open descriptors that a careless engine would hand on: a secret file and a directory."""
        home = self.where["files"][3]
        fds = (os.open(home, os.O_RDWR), os.open(os.path.dirname(home), os.O_RDONLY | os.O_DIRECTORY))
        try:
            yield fds
        finally:
            for fd in fds:
                os.close(fd)

    def call(self, command, program, fds, mark, cwd=None):
        said = []
        with terminal(program.tty, self.user, said) as (stdin, take_it):
            start = time.monotonic()
            process = subprocess.Popen(
                command,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=cwd or f"{self.base}/cwd",
                env=self.environment(GB_RUN_MARK=mark),
                pass_fds=fds,
                start_new_session=True,
                preexec_fn=take_it,
                **self.user.become(),
            )
            try:
                stdout, stderr = process.communicate(timeout=program.timeout + 10)
            except subprocess.TimeoutExpired:
                process.kill()
                stdout, stderr = process.communicate(timeout=10)
                said.append("the call did not return")
            seconds = time.monotonic() - start
        if seconds > program.deadline:
            said.append(f"the call took {seconds:.1f} s")
        return Outcome(process.returncode, stdout, stderr, seconds, said)

    def smuggled(self, out, rw):
        """What a run may not leave in its output directory and in a writable mount."""
        for path in files_below(out, rw):
            link = os.path.islink(path)
            if link and path.startswith(str(out)):
                yield f"{path} is a link"
            elif not link and os.path.isfile(path):
                if os.lstat(path).st_mode & 0o6000:
                    yield f"{path} was made set-uid"
                if self.secret.encode() in Path(path).read_bytes():
                    yield f"{path} holds the secret"


def files_below(*directories):
    for directory in directories:
        for where, folders, names in os.walk(directory):
            yield from (os.path.join(where, it) for it in folders + names)


@contextlib.contextmanager
def terminal(wanted, user, said):
    """stdin for a call and what makes it the controlling terminal; complains when it was tampered with."""
    if not wanted:
        yield subprocess.DEVNULL, None
        return
    master, slave = pty.openpty()
    os.fchown(slave, user.uid, user.gid)
    termios.tcsetwinsize(slave, (24, 80))
    before = termios.tcgetattr(slave), termios.tcgetwinsize(slave)
    try:
        yield slave, lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        if select.select([slave], [], [], 0)[0]:
            said.append("something was typed into the terminal")
        if (termios.tcgetattr(slave), termios.tcgetwinsize(slave)) != before:
            said.append("the terminal was changed")
    finally:
        os.close(slave)
        os.close(master)


# -- the verdict ---------------------------------------------------------------------------------------


def judge(program, level, outcome, secret):
    """Everything that is wrong with the outcome of an attack."""
    said = list(outcome.complaints)
    for text in (secret.encode(), secret.encode().hex().encode(), base64.b64encode(secret.encode())[:-4]):
        if text in outcome.stdout + outcome.stderr:
            said.append("the secret is in the result")
    if len(outcome.stdout) > RESULT_LIMIT:
        said.append(f"the result has {len(outcome.stdout)} bytes")
    try:
        result = outcome.result = json.loads(outcome.stdout)
    except (ValueError, RecursionError):
        return [*said, f"no result that can be read: exit {outcome.status}, {outcome.stderr[-500:]!r}"]
    return said + shape(result, level) + ending(program, result, outcome.status)


def shape(result, level):
    """What must be true of any result, whatever the guest did."""
    said = [f"no {key} in the result" for key in sorted(RESULT_KEYS - set(result))]
    isolation = result.get("isolation") or {}
    if isolation.get("level") != level:
        said.append(f"isolation was {isolation.get('level')}")
    missing = LAYERS[level] - set(isolation.get("layers", ()))
    if missing:
        said.append(f"layers are missing: {sorted(missing)}")
    trusted = {key: value for key, value in result.items() if key not in GUESTS_OWN}
    if "FORGED" in json.dumps(trusted):
        said.append("the guest forged a part of the result")
    for stream in ("stdout", "stderr"):
        if len(result.get(stream, "")) > STREAM_LIMIT:
            said.append(f"{stream} is longer than its limit")
    said += [f"a link was reported: {it['path']}" for it in result.get("files", ()) if "link-" in it["path"]]
    return said


def ending(program, result, status):
    """Whether the run ended as the program's docstring says."""
    said = []
    lines = result.get("stdout", "").splitlines() or [""]
    got = result.get("status")
    words = {"ok": "ok" if lines[-1] == "HELD" else "silent", "limit": f"limit {result.get('limit')}"}
    ended = words.get(got, got)
    if ended not in program.expect and not (ended == "ok" and "silent" in program.expect):
        tail = {key: result.get(key) for key in ("stdout", "stderr", "error")}
        said.append(f"ended with {ended}, not {' | '.join(program.expect)}: {json.dumps(tail)[-2000:]}")
    said += [line for line in lines if line.startswith("ESCAPED")]
    if result.get("exit_code") != status or (got == "ok") != (status == 0):
        said.append(f"status {got}, exit_code {result.get('exit_code')}, but the command's own is {status}")
    right = {"timeout": (124,), "limit": (137,), "crashed": range(129, 160)}.get(got)
    if right and status not in right:
        said.append(f"status {got} with exit status {status}")
    if program.exit is not None and status != program.exit:
        said.append(f"exit status {status}, not {program.exit}")
    if program.counts and result.get(program.counts[0], 0) < program.counts[1]:
        said.append(f"{program.counts[0]} is {result.get(program.counts[0])}")
    return said


def got_out(outcome):
    """Whether an attack without a box succeeded, by its own word or by what happened to the secrets."""
    return bool(re.search(rb"^ESCAPED", outcome.stdout, re.MULTILINE)) or bool(outcome.complaints)
