"""The host on which the attacks are made: users, processes, and secrets that are watched."""

import contextlib
import ctypes
import fcntl
import json
import os
import pty
import pwd
import secrets
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
GLOVEBOX = os.path.abspath(os.environ.get("GLOVEBOX", HERE.parents[1] / "build" / "glovebox"))
PYTHON = "/usr/bin/python3"
PR_SET_CHILD_SUBREAPER, CLONE_NEWNS = 36, 0x20000
libc = ctypes.CDLL(None, use_errno=True)


# -- users and processes ---------------------------------------------------------------------------


def user_names():
    """Root and an ordinary user; without root's rights, just whoever runs the suite."""
    return ["root", "gbtest"] if os.getuid() == 0 else [pwd.getpwuid(os.getuid()).pw_name]


def account(name):
    """An account of this host; the ordinary user for the tests is made when it is missing, and stays. Each of several
    workers has one of its own: an attack that takes all the processes of its user hurts no other's."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
    is_ours = name == "gbtest"
    if is_ours and worker != "gw0":
        name += worker.removeprefix("gw")
    if is_ours and name not in (it.pw_name for it in pwd.getpwall()):
        subprocess.run(["useradd", "-m", "-s", "/bin/sh", name], check=True)
    return pwd.getpwnam(name)


def adopt_orphans():
    """Whatever a run leaves behind becomes a child of this process, so that it can be found."""
    assert libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def process_table():
    """pid -> (parent, state, start time) of every process of the host."""
    table = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                stat = Path("/proc", entry, "stat").read_text(errors="replace").rpartition(")")[2].split()
                table[int(entry)] = (int(stat[1]), stat[0], int(stat[19]))
    return table


def descendants():
    """pid and start time of each process below this one that still runs."""
    table = process_table()
    found = set()
    for pid, (parent, state, start) in table.items():
        while parent > 1 and parent != os.getpid():
            parent = table.get(parent, (0,))[0]
        if parent == os.getpid() and state != "Z":
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


# -- files -----------------------------------------------------------------------------------------


class Rooms:
    """The file system as the tests have it: with a /tmp of their own where there are the rights for it."""

    def __init__(self):
        self.holder, self.prefix, self.fd = None, "", None
        if os.getuid() == 0:
            kept = {str(HERE.parents[1]), os.path.dirname(GLOVEBOX), sys.prefix}
            command = [PYTHON, "-I", str(HERE / "rooms.py"), *sorted(kept)]
            holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            answer = holder.stdout.readline().strip()
            assert answer in (b"ready", b"no"), "rooms.py failed"
            if answer == b"ready":
                self.holder, self.prefix = holder, f"/proc/{holder.pid}/root"
                self.fd = os.open(f"/proc/{holder.pid}/ns/mnt", os.O_RDONLY)

    def enter(self):
        """For a child that is about to become a program."""
        if self.holder and libc.setns(self.fd, CLONE_NEWNS) != 0:
            raise OSError(ctypes.get_errno(), "setns")

    def mounts(self):
        return Path(f"/proc/{self.holder.pid if self.holder else 'self'}/mountinfo").read_text(encoding="utf-8")

    def close(self):
        if self.holder:
            os.close(self.fd)
            self.holder.communicate()


def listing(directories):
    return {where: set(os.listdir(where)) for where in directories}


def files_below(*directories):
    for directory in directories:
        for where, folders, names in os.walk(directory):
            yield from (os.path.join(where, it) for it in folders + names)


def tree(directory):
    """Every file below a directory with all that could be changed about it."""
    nodes = {path: os.lstat(path) for path in files_below(directory)}
    return {path: (it.st_mode, it.st_uid, it.st_size, it.st_mtime_ns, it.st_ctime_ns) for path, it in nodes.items()}


@dataclass
class Snapshot:
    """What may not have changed when a run is over."""

    names: dict
    mounts: str
    processes: set


@dataclass
class Outcome:
    """One call of glovebox, seen from outside."""

    status: int
    stdout: bytes
    stderr: bytes
    seconds: float
    complaints: list = field(default_factory=list)
    result: dict = field(default_factory=dict)


@contextlib.contextmanager
def terminal(wanted, user, said):
    """stdin for a call; a terminal says so when it was tampered with."""
    if not wanted:
        yield subprocess.DEVNULL
        return
    master, slave = pty.openpty()
    os.fchown(slave, user.pw_uid, user.pw_gid)
    termios.tcsetwinsize(slave, (24, 80))
    before = termios.tcgetattr(slave), termios.tcgetwinsize(slave)
    try:
        yield slave
        if select.select([slave], [], [], 0)[0]:
            said.append("something was typed into the terminal")
        if (termios.tcgetattr(slave), termios.tcgetwinsize(slave)) != before:
            said.append("the terminal was changed")
    finally:
        os.close(slave)
        os.close(master)


# -- the host as one user has it -------------------------------------------------------------------


class Host:
    """Secrets planted for one user, watched before and after every run."""

    def __init__(self, name, rooms):
        self.user, self.rooms = account(name), rooms
        self.secret = f"GBS-{secrets.token_hex(20)}"
        made = tempfile.mkdtemp(prefix="gb-attack-", dir=self.outside("/var/tmp"))
        os.chmod(made, 0o755)
        os.chown(made, self.user.pw_uid, self.user.pw_gid)
        self.base = made.removeprefix(rooms.prefix)
        for it in ("home", "cwd", "out", "ro", "rw", "scratch"):
            self.make(it)
        self.make_venv()
        watched = ("/tmp", "/var/tmp", "/dev/shm", f"{self.base}/home", f"{self.base}/cwd")
        self.watched = [self.outside(it) for it in watched]
        self.plant()

    def outside(self, path):
        """Where the harness finds what programs of this host find under `path`."""
        return self.rooms.prefix + path

    def make(self, name):
        """An empty directory of the user's."""
        path = Path(self.outside(f"{self.base}/{name}"))
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(exist_ok=True)
        if name in ("ro", "rw"):
            (path / "file").write_text("as it was\n")
            os.chown(path / "file", self.user.pw_uid, self.user.pw_gid)
        os.chown(path, self.user.pw_uid, self.user.pw_gid)
        return str(path)

    def make_venv(self):
        shutil.rmtree(self.outside(f"{self.base}/venv"), ignore_errors=True)
        assert self.start([PYTHON, "-m", "venv", "--without-pip", f"{self.base}/venv"]).wait() == 0

    def close(self):
        self.uproot()
        shutil.rmtree(self.outside(self.base), ignore_errors=True)

    # -- programs of the user --

    def environment(self, **more):
        """The caller's environment, with secrets that must not get into a box."""
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": f"{self.base}/home",
            "USER": self.user.pw_name,
            "LANG": "C.UTF-8",
            "GB_CANARY_SECRET": self.secret,
            "AWS_SECRET_ACCESS_KEY": self.secret,
            "SSH_AUTH_SOCK": "/tmp/no-agent",
            **more,
        }

    def start(self, command, *, place="cwd", tty=False, env=None, **how):
        """A program of the user's, in a session of its own."""
        other = os.getuid() != self.user.pw_uid

        def become():
            self.rooms.enter()
            os.chdir(f"{self.base}/{place}")
            if tty:
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            if other:
                os.setgroups([])
                os.setgid(self.user.pw_gid)
                os.setuid(self.user.pw_uid)

        environment = env or self.environment()
        return subprocess.Popen(command, env=environment, start_new_session=True, preexec_fn=become, **how)

    def batch(self, requests, *options, before=()):
        """The results of many runs by one engine."""
        command = [*before, GLOVEBOX, "batch", "--isolation", "namespaces", "--policy", "off", *options, "-"]
        lines = "".join(json.dumps(it) + "\n" for it in requests)
        process = self.start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        stdout, stderr = process.communicate(lines.encode(), timeout=60)
        results = [json.loads(line) for line in stdout.splitlines()]
        assert len(results) == len(requests), stderr
        return results

    def call(self, command, program, fds, mark, place="cwd"):
        """Run a command to its end, or to that of our patience."""
        said = []
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "pass_fds": fds}
        with terminal(program.tty, self.user, said) as stdin:
            began = time.monotonic()
            environment = self.environment(GB_RUN_MARK=mark)
            process = self.start(command, place=place, tty=program.tty, env=environment, stdin=stdin, **pipes)
            try:
                stdout, stderr = process.communicate(timeout=program.timeout + 10)
            except subprocess.TimeoutExpired:
                process.kill()
                stdout, stderr = process.communicate(timeout=10)
                said.append("the call did not return")
            seconds = time.monotonic() - began
        if seconds > program.deadline:
            said.append(f"the call took {seconds:.1f} s")
        return Outcome(process.returncode, stdout, stderr, seconds, said)

    # -- secrets --

    def start_canary(self, *args, **pipes):
        return self.start([PYTHON, "-I", str(HERE / "canary.py"), *args], **pipes)

    def plant(self):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.canary = self.start_canary(self.user.pw_dir, f"{self.base}/cwd", **pipes)
        self.where = json.loads(self.canary.stdout.readline())

    def uproot(self):
        with contextlib.suppress(BrokenPipeError):
            self.canary.stdin.close()
        self.canary.send_signal(signal.SIGCONT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.canary.wait(2)
        self.canary.kill()
        if self.canary.wait() != 0:
            self.start_canary("remove", json.dumps(self.where)).wait()
        self.canary.stdout.close()
        for place in ("/tmp", "/var/tmp", "/dev/shm", self.user.pw_dir):
            for path in Path(self.outside(place)).glob(f"{self.where['name']}*"):
                path.unlink()

    def replant(self):
        self.uproot()
        self.make("cwd")
        self.plant()

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

    @contextlib.contextmanager
    def leaks(self):
        """Open descriptors that a careless engine would hand on: a secret file and a directory."""
        secret = self.outside(self.where["files"][3])
        fds = os.open(secret, os.O_RDWR), os.open(os.path.dirname(secret), os.O_RDONLY | os.O_DIRECTORY)
        try:
            yield fds
        finally:
            for fd in fds:
                os.close(fd)

    # -- before and after --

    def snapshot(self):
        return Snapshot(listing(self.watched), self.rooms.mounts(), descendants())

    def new_files(self, before):
        """Files that were not there before and may come from a run: without rooms, others make files, too."""
        ours = {self.user.pw_uid} if not self.rooms.holder else None
        for where, names in listing(self.watched).items():
            for path in (os.path.join(where, it) for it in names - before.names[where]):
                with contextlib.suppress(FileNotFoundError):
                    if not ours or os.lstat(path).st_uid in ours:
                        yield path

    def left(self, before, mark):
        """What a run has left on the host. What is on its way out gets a moment."""
        said = []
        files = until(lambda: list(self.new_files(before)), 1)
        if files:
            said.append(f"files were left: {files[:5]}")
        processes = until(lambda: descendants() - before.processes, 1)
        if processes:
            said.append(f"processes were left: {sorted(processes)[:5]}")
            kill_all(processes)
        reap({self.canary.pid})
        if marked(mark):
            said.append("a process with the mark of the run was left")
        if self.rooms.mounts() != before.mounts:
            said.append("a mount was left")
        return said

    def smuggled(self, out, rw):
        """What a run may not leave in its output directory and in a writable mount."""
        for path in files_below(out, rw):
            link = os.path.islink(path)
            if link and path.startswith(out):
                yield f"{path} is a link"
            elif not link and os.path.isfile(path):
                if os.lstat(path).st_mode & 0o6000:
                    yield f"{path} was made set-uid"
                if self.secret.encode() in Path(path).read_bytes():
                    yield f"{path} holds the secret"

    # -- one attack --

    def told(self, level, variant, fds):
        """What the program is told about the secrets: all but their value."""
        inodes = self.where["inodes"] + [[os.fstat(fd).st_dev, os.fstat(fd).st_ino] for fd in fds]
        more = {"level": level, "user": "root" if self.user.pw_uid == 0 else "user", "variant": variant}
        return json.dumps({**self.where, **more, "fds": list(fds), "inodes": inodes})

    def attack(self, program, level, variant):
        """Run a program in a box and note all that is wrong with the host afterwards."""
        places = {name: f"{self.base}/{name}" for name in ("ro", "rw", "out", "venv")}
        out, rw = self.make("out"), self.make("rw")
        kept = {self.outside(places[it]): tree(self.outside(places[it])) for it in ("ro", "venv")}
        mark = f"gb-mark-{secrets.token_hex(8)}"
        before = self.snapshot()
        with self.leaks() as fds:
            command = [GLOVEBOX, "run", "--json", "--isolation", level, "--policy", "off"]
            command += ["--prelude", str(HERE / "prelude.py"), "-e", f"GB_RUN_MARK={mark}"]
            command += ["--input", f"canary={self.told(level, variant, fds)}"]
            command += [] if "-t" in program.options else ["-t", f"{program.timeout:g}"]
            command += [it.format(**places) for it in program.options]
            outcome = self.call([*command, str(program.path)], program, fds, mark)
        outcome.complaints += self.left(before, mark)
        outcome.complaints += self.complaints()
        outcome.complaints += [f"{it} was changed" for it in kept if tree(it) != kept[it]]
        outcome.complaints += self.smuggled(out, rw)
        return outcome

    def unprotected(self, program, variant):
        """Run a program with no box around it."""
        self.make("scratch")
        own_venv = "{venv}" in " ".join(program.options)
        python = f"{self.base}/venv/bin/python3" if own_venv else PYTHON
        before = descendants()
        with self.leaks() as fds:
            command = [python, "-I", str(HERE / "unprotected.py"), str(HERE / "prelude.py"), str(program.path)]
            outcome = self.call([*command, self.told("namespaces", variant, fds)], program, fds, "", "scratch")
        kill_all(descendants() - before)
        reap({self.canary.pid})
        tampered = [it for it in outcome.complaints if not it.startswith("the call")]
        outcome.complaints = tampered + self.complaints()
        self.replant()
        if own_venv:
            self.make_venv()
        return outcome
