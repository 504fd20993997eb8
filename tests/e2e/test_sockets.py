"""Sockets in a box: a service of the host is out of reach by its path, and the box's own work as ever."""

import os
import select
import socket
import tempfile
import threading
from pathlib import Path

import pytest
from box import run_json

KINDS = {"stream": socket.SOCK_STREAM, "seqpacket": socket.SOCK_SEQPACKET, "datagram": socket.SOCK_DGRAM}

REACH = r"""
import os, socket, sys

kinds = {"stream": socket.SOCK_STREAM, "seqpacket": socket.SOCK_SEQPACKET, "datagram": socket.SOCK_DGRAM}
there = "/mnt/w/service"
os.symlink(there, "link")
os.symlink("/mnt/w", "dir")
here = os.open("/mnt/w", os.O_PATH)
node = os.open(there, os.O_PATH)


def from_there(road):
    before = os.getcwd()
    os.chdir("/mnt/w")
    try:
        return road("service")
    finally:
        os.chdir(before)


def connect(path):
    it = socket.socket(socket.AF_UNIX, kinds[KIND])
    it.settimeout(1)
    it.connect(path)
    it.send(b"connected")


def send_from_pair(path):
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    near.sendto(b"sent", path)


def send_message(path):
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendmsg([b"sent"], [], 0, path)


paths = [there, "link", "dir/service", "/workspace/../mnt/w/./service", "//mnt//w//service",
         f"/proc/self/fd/{node}", f"/proc/self/fd/{here}/service", "/proc/self/root/mnt/w/service",
         "/proc/1/root/mnt/w/service", "./link"]
reached = []
for road in (connect, send_from_pair, send_message):
    for path in paths + [None]:
        try:
            from_there(road) if path is None else road(path)
        except OSError:
            continue
        reached.append((road.__name__, path))
print(reached)
"""


class Service:
    """Somebody on the host who listens at a path, and what was heard there."""

    def __init__(self, path, kind):
        self.heard = []
        self.socket = socket.socket(socket.AF_UNIX, kind)
        self.socket.bind(str(path))
        os.chmod(path, 0o777)
        if kind != socket.SOCK_DGRAM:
            self.socket.listen(64)
        self.kind = kind
        self.stop, self.wake = os.pipe()
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        while True:
            ready, _, _ = select.select([self.socket, self.stop], [], [])
            if self.stop in ready:
                return
            if self.kind == socket.SOCK_DGRAM:
                self.heard.append(self.socket.recv(100))
            else:
                self.socket.accept()[0].close()
                self.heard.append(b"a connection")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.write(self.wake, b"x")
        self.thread.join()
        self.socket.close()


@pytest.fixture
def shared():
    """A directory that everybody may enter and write to: root's programs are nobody."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        directory = Path(name) / "shared"
        directory.mkdir()
        directory.chmod(0o777)
        yield directory


@pytest.mark.parametrize("mode", ["ro", "rw"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_service_in_a_mount_is_out_of_reach(shared, kind, mode):
    with Service(shared / "service", KINDS[kind]) as service:
        result = run_json(f"KIND = {kind!r}\n{REACH}", "-m", f"{shared}:w:{mode}", "--isolation", "namespaces")
    assert (result["status"], result["stdout"], service.heard) == ("ok", "[]\n", [])


RACE = r"""
import ctypes, os, select, socket, threading, time

libc = ctypes.CDLL(None, use_errno=True)
os.symlink("/mnt/w/service", "theirs")
listener = socket.socket(socket.AF_UNIX)
listener.bind("mine")
listener.listen(1000)
internet = socket.create_server(("127.0.0.1", 0), backlog=100)
stop = is_over = False
theirs = b"\1\0/workspace/theirs\0"
mine = b"\1\0/workspace/mine\0\0\0\0"
inet = b"\2\0" + internet.getsockname()[1].to_bytes(2, "big") + bytes([127, 0, 0, 1]) + bytes(8) + b"\0\0\0\0"
memory = ctypes.create_string_buffer(32)
number = os.open("/dev/null", os.O_RDONLY)


def swap():
    while not stop:
        for it in (theirs, mine, inet):
            ctypes.memmove(memory, it, 20)
            kind = socket.AF_INET if it is inet else socket.AF_UNIX
            with socket.socket(kind) as fresh:
                os.dup2(fresh.fileno(), number)


def exchange():
    os.symlink("mine", "other")
    while not stop:
        libc.syscall(316, -100, b"theirs", -100, b"other", 2)
        libc.syscall(316, -100, b"theirs", -100, b"other", 2)


def drain():
    while not is_over:
        for it in select.select([listener, internet], [], [], 0.1)[0]:
            it.accept()[0].close()


threads = [threading.Thread(target=it) for it in (swap, exchange, drain)]
for it in threads:
    it.start()
until, done = time.monotonic() + 1.5, 0
while time.monotonic() < until:
    for length in (20, 16):
        done += libc.connect(number, memory, length) == 0
stop = True
for it in threads[:2]:
    it.join()
is_over = True
print(done > 0)
"""


def test_nor_by_a_race(shared):
    """Address, descriptor and path change while init looks: what it looked at is what it connects to."""
    with Service(shared / "service", socket.SOCK_STREAM) as service:
        result = run_json(RACE, "-m", f"{shared}:w:ro", "--isolation", "namespaces", "--timeout", "20")
    assert (result["status"], result["stdout"], service.heard) == ("ok", "True\n", [])


OWN = r"""
import errno, multiprocessing, os, signal, socket, threading, time

for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
    for place in ("/tmp/x", "x", "/dev/shm/x", os.path.expanduser("~/x"), "\0x"):
        server = socket.socket(socket.AF_UNIX, kind)
        server.bind(place)
        server.listen(1)
        client = socket.socket(socket.AF_UNIX, kind)
        client.connect(place)
        client.send(b"hello")
        assert server.accept()[0].recv(5) == b"hello"
        if place[0] != "\0":
            os.unlink(place)


def fails(road, *errors):
    try:
        road()
    except OSError as e:
        assert e.errno in errors, e
    else:
        raise AssertionError(road)


def unix(path, timeout=None):
    it = socket.socket(socket.AF_UNIX)
    it.settimeout(timeout)
    it.connect(path)
    return it


fails(lambda: unix("/tmp/nowhere"), errno.ENOENT)
open("/tmp/file", "w").close()
fails(lambda: unix("/tmp/file"), errno.ECONNREFUSED)
fails(lambda: unix("/usr/bin/env"), errno.EACCES)
fails(lambda: socket.create_connection(("127.0.0.1", 9)), errno.ECONNREFUSED)

# one that waits for room, and gets it
server = socket.socket(socket.AF_UNIX)
server.bind("/tmp/full")
server.listen(0)
first = unix("/tmp/full")
fails(lambda: unix("/tmp/full", 0), errno.EAGAIN)
threading.Timer(0.2, server.accept).start()
assert unix("/tmp/full").getblocking()

# one that would wait for ever is interrupted by a signal, and not before
class Woken(Exception):
    pass

def wake(*_):
    raise Woken

signal.signal(signal.SIGALRM, wake)
signal.setitimer(signal.ITIMER_REAL, 0.3)
began = time.monotonic()
try:
    unix("/tmp/full")
except Woken:
    assert time.monotonic() - began > 0.25

tcp = socket.create_server(("127.0.0.1", 0), backlog=0)
filling = []
for _ in range(3):
    it = socket.socket()
    it.setblocking(False)
    it.connect_ex(tcp.getsockname())
    filling.append(it)
signal.setitimer(signal.ITIMER_REAL, 0.3)
try:
    socket.create_connection(tcp.getsockname())
except Woken:
    pass

with multiprocessing.Manager() as manager:
    assert manager.list([1])[0] == 1
many = [threading.Thread(target=lambda: unix("/tmp/many").send(b"x")) for _ in range(40)]
server = socket.socket(socket.AF_UNIX)
server.bind("/tmp/many")
server.listen(3)
for it in many:
    it.start()
for _ in many:
    assert server.accept()[0].recv(1) == b"x"
print("all")
"""


def test_the_boxes_own_work():
    result = run_json(OWN, "--isolation", "namespaces", "--timeout", "30")
    assert (result["status"], result["stdout"]) == ("ok", "all\n"), result
