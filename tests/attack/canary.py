"""The host's secrets: plants them, keeps them, and tells what has happened to them.

Runs as the user whose glovebox is attacked, as an ordinary process of the host. Prints one JSON
object (where everything lies), then answers each line on stdin with a JSON list of complaints.
Ends, and removes everything, when stdin closes; `remove JSON` does so for one that was killed.
"""

import contextlib
import ctypes
import hashlib
import json
import os
import resource
import secrets
import signal
import socket
import sys

libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
libc.syscall.restype = ctypes.c_long
X86 = os.uname().machine == "x86_64"
NR = dict(
    zip(
        ("add_key", "keyctl", "mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive"),
        (248, 250, 240, 241, 242, 243) if X86 else (217, 219, 180, 181, 182, 183),
        strict=True,
    )
)
IPC_CREAT, IPC_EXCL, IPC_RMID, IPC_NOWAIT, GETVAL, SETVAL = 0o1000, 0o2000, 0, 0o4000, 12, 16
KEYCTL_READ, KEYCTL_UNLINK, KEYCTL_SETPERM, USER_KEYRING = 11, 9, 5, -4
PR_SET_PTRACER, PTRACER_ANY = 0x59616D61, -1


class Message(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_long), ("text", ctypes.c_char * 128)]


def check(value):
    if value == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return value


class Files:
    """Secret files that anybody may read, a directory's worth of them."""

    def __init__(self, paths, secret):
        self.text, self.paths, self.fds = secret, paths, []
        for path in paths:
            with open(path, "w", encoding="ascii") as out:
                out.write(secret)
            os.chmod(path, 0o644)
            self.fds.append(os.open(path, os.O_RDWR))
        self.before = [self.state(path) for path in paths]

    @staticmethod
    def state(path):
        it = os.lstat(path)
        return it.st_ino, it.st_mode, it.st_nlink, it.st_uid, it.st_size, it.st_mtime_ns, it.st_ctime_ns

    def complaints(self):
        for path, before in zip(self.paths, self.before, strict=True):
            try:
                with open(path, encoding="ascii") as file:
                    same = self.state(path) == before and file.read() == self.text
            except OSError:
                same = False
            if not same:
                yield f"{path} was changed"


class Sockets:
    """Listeners of every kind that a process of the host could reach, and a FIFO."""

    def __init__(self, stem):
        self.abstract = f"{stem}-abstract"
        self.path, self.fifo = f"/tmp/{stem}.sock", f"/tmp/{stem}.fifo"
        self.all = {}
        self.ports = {}
        for name, family, kind, address in (
            ("tcp4", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            ("tcp6", socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0)),
            ("udp4", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            ("abstract", socket.AF_UNIX, socket.SOCK_STREAM, "\0" + self.abstract),
            ("pathname", socket.AF_UNIX, socket.SOCK_STREAM, self.path),
            ("datagram", socket.AF_UNIX, socket.SOCK_DGRAM, self.path + ".dgram"),
        ):
            it = socket.socket(family, kind)
            it.bind(address)
            if kind == socket.SOCK_STREAM:
                it.listen(16)
            it.setblocking(False)
            self.all[name] = it
            if family != socket.AF_UNIX:
                self.ports[name] = it.getsockname()[1]
        os.chmod(self.path, 0o777)
        os.chmod(self.path + ".dgram", 0o777)
        os.mkfifo(self.fifo, 0o666)
        self.fifo_fd = os.open(self.fifo, os.O_RDWR | os.O_NONBLOCK)

    def complaints(self):
        for name, it in self.all.items():
            with contextlib.suppress(BlockingIOError):
                if it.type == socket.SOCK_STREAM:
                    it.accept()[0].close()
                else:
                    it.recv(4096)
                yield f"the {name} socket was reached"
        with contextlib.suppress(BlockingIOError):
            os.read(self.fifo_fd, 4096)
            yield "the FIFO was written to"


class Memory:
    """The secret in this process' memory, in System V IPC and in the user's keyring."""

    def __init__(self, stem, secret):
        self.secret = secret.encode()
        self.buffer = ctypes.create_string_buffer(self.secret, 128)
        self.key = int(stem[-6:], 16) | 0x1000000
        flags = IPC_CREAT | IPC_EXCL | 0o666
        self.shm = check(libc.shmget(self.key, ctypes.c_size_t(4096), flags))
        self.address = libc.shmat(self.shm, None, 0)
        ctypes.memmove(self.address, self.secret, len(self.secret))
        self.sem = check(libc.semget(self.key, 1, flags))
        check(libc.semctl(self.sem, 0, SETVAL, 1))
        self.msg = check(libc.msgget(self.key, flags))
        self.send()
        size = ctypes.c_size_t(len(self.secret))
        self.keyring = libc.syscall(NR["add_key"], b"user", stem.encode(), self.secret, size, USER_KEYRING)
        if self.keyring != -1:
            libc.syscall(NR["keyctl"], KEYCTL_SETPERM, self.keyring, 0x3F3F0000)

    def send(self):
        message = Message(1, self.secret)
        check(libc.msgsnd(self.msg, ctypes.byref(message), ctypes.c_size_t(128), IPC_NOWAIT))

    def complaints(self):
        if self.buffer.value != self.secret:
            yield "the memory of a host process was changed"
        if ctypes.string_at(self.address, len(self.secret)) != self.secret:
            yield "System V shared memory was changed"
        if libc.semctl(self.sem, 0, GETVAL) != 1:
            yield "a System V semaphore was changed"
        message = Message()
        libc.msgrcv(self.msg, ctypes.byref(message), ctypes.c_size_t(128), ctypes.c_long(0), IPC_NOWAIT)
        if message.text != self.secret:
            yield "a System V message queue was changed"
        else:
            self.send()
        if self.keyring != -1:
            text = ctypes.create_string_buffer(128)
            libc.syscall(NR["keyctl"], KEYCTL_READ, self.keyring, text, 128)
            if text.value != self.secret:
                yield "a key of the user's was changed"

    def where(self):
        return {"key": self.key, "shm": self.shm, "sem": self.sem, "msg": self.msg}


class Queue:
    """A POSIX message queue with the secret in it."""

    def __init__(self, stem, secret):
        self.name, self.secret = stem.encode(), secret.encode()
        size = (ctypes.c_long * 8)(0, 1, 128)
        flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_NONBLOCK
        self.fd = libc.syscall(NR["mq_open"], self.name, flags, 0o666, size)
        self.send()

    def send(self):
        libc.syscall(NR["mq_timedsend"], self.fd, self.secret, ctypes.c_size_t(len(self.secret)), 0, None)

    def complaints(self):
        text = ctypes.create_string_buffer(128)
        libc.syscall(NR["mq_timedreceive"], self.fd, text, ctypes.c_size_t(128), None, None)
        if self.fd != -1 and text.value != self.secret:
            yield "a POSIX message queue was changed"
        else:
            self.send()


class Process:
    """This process itself: its signals, priority, limits, tracer."""

    def __init__(self):
        self.signals = []
        for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
            signal.signal(number, lambda number, _frame: self.signals.append(number))
        libc.prctl(PR_SET_PTRACER, ctypes.c_ulong(PTRACER_ANY), 0, 0, 0)
        self.before = self.state()

    @staticmethod
    def state():
        with open("/proc/self/status", encoding="ascii") as file:
            tracer = next(line for line in file if line.startswith("TracerPid"))
        with open("/proc/self/oom_score_adj", encoding="ascii") as file:
            score = file.read()
        return {
            "priority": os.getpriority(os.PRIO_PROCESS, 0),
            "affinity": sorted(os.sched_getaffinity(0)),
            "scheduler": os.sched_getscheduler(0),
            "limits": [resource.getrlimit(it) for it in range(16)],
            "tracer": tracer,
            "oom_score_adj": score,
            "hostname": os.uname().nodename,
            "cwd": os.getcwd(),
        }

    def complaints(self):
        for number in self.signals:
            yield f"a host process got signal {number}"
        self.signals.clear()
        now = self.state()
        for name, value in self.before.items():
            if now[name] != value:
                yield f"a host process' {name} was changed"


def remove(where):
    """Take everything away again, also what a killed canary has left."""
    for path in (*where["files"], *where["unix"], where["fifo"]):
        with contextlib.suppress(OSError):
            os.unlink(path)
    libc.shmctl(where["ipc"]["shm"], IPC_RMID, None)
    libc.semctl(where["ipc"]["sem"], 0, IPC_RMID)
    libc.msgctl(where["ipc"]["msg"], IPC_RMID, None)
    libc.syscall(NR["mq_unlink"], where["name"].encode())
    if where["keyring"] != -1:
        libc.syscall(NR["keyctl"], KEYCTL_UNLINK, where["keyring"], USER_KEYRING)


def main():
    if sys.argv[1] == "remove":
        remove(json.loads(sys.argv[2]))
        return
    home, cwd = sys.argv[1:]
    secret = os.environ["GB_CANARY_SECRET"]
    stem = f"gb-canary-{secrets.token_hex(6)}"
    places = [f"{it}/{stem}" for it in ("/tmp", "/var/tmp", "/dev/shm", home, cwd)]
    files, sockets, memory = Files(places, secret), Sockets(stem), Memory(stem, secret)
    kept = (files, sockets, memory, Queue(stem, secret), Process())
    where = {
        "sha256": hashlib.sha256(secret.encode()).hexdigest(),
        "name": stem,
        "files": places,
        "inodes": [[os.stat(it).st_dev, os.stat(it).st_ino] for it in places],
        "home": home,
        "ports": sockets.ports,
        "abstract": sockets.abstract,
        "unix": [sockets.path, sockets.path + ".dgram"],
        "fifo": sockets.fifo,
        "pid": os.getpid(),
        "address": ctypes.addressof(memory.buffer),
        "ipc": memory.where(),
        "keyring": memory.keyring,
        "hostname": os.uname().nodename,
    }
    print(json.dumps(where), flush=True)
    for _line in sys.stdin:
        print(json.dumps([text for it in kept for text in it.complaints()]), flush=True)
    remove(where)


if __name__ == "__main__":
    main()
