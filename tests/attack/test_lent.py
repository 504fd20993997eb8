"""A box may get the network namespace of another that is gone (sandbox/net.h). It must be as it was made, and the box's
alone."""

import pytest

from host import user_names

WARM, LOOKS = 8, 12
# The kernel gives each network namespace a number that no other ever has.
COOKIE = """
import socket, struct
pair = socket.socketpair()
cookie = struct.unpack("Q", pair[0].getsockopt(socket.SOL_SOCKET, 71, 8))[0]
"""
# What a namespace tells of itself; counters of the whole host, and numbers of the kernel's own sockets, aside.
LOOK = """
import os, re
seen = {}
for where, folders, names in os.walk("/proc/net"):
    for name in names:
        try:
            seen[name] = open(os.path.join(where, name)).read()
        except OSError as e:
            seen[name] = e.errno
for name in ("softnet_stat", "rt_cache", "protocols", "netlink"):
    seen.pop(name, None)
seen["sockstat"] = re.sub(" (orphan|alloc|mem|memory) [0-9]+", "", seen["sockstat"])
""" + COOKIE + "[cookie, seen]"
# Programs with an internet socket: their namespace is nobody's afterwards.
TOUCH = {
    "tcp": """
server = socket.create_server(("127.0.0.1", 4444))
client = socket.create_connection(("127.0.0.1", 4444))
client.send(b"x" * 1000)
""",
    "tcp6": """
server = socket.create_server(("::1", 4444), family=socket.AF_INET6)
client = socket.create_connection(("::1", 4444))
client.send(b"x")
client.close()
""",
    "udp": 'socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9))',
    "nowhere": """
try:
    socket.create_connection(("192.0.2.1", 80))
except OSError:
    pass
""",
    "only asked": "socket.socket().close()",
    "by the raw call": """
import ctypes
ctypes.CDLL(None).syscall(41, ctypes.c_long(2), 1, 0)
""",
    "a thread": """
import threading
them = [threading.Thread(target=socket.socket) for _ in range(20)]
[it.start() for it in them]
[it.join() for it in them]
""",
    "a child": """
import subprocess
subprocess.run(["python3", "-c", "import socket; socket.create_server(('127.0.0.1', 4444))"], check=True)
""",
    "a daemon": """
import os, time
r, w = os.pipe()
if os.fork() == 0:
    os.setsid()
    them = [socket.create_server(("127.0.0.1", 5000 + i)) for i in range(20)]
    os.write(w, b"x")
    time.sleep(60)
os.read(r, 1)
""",
    "killed": """
import os, signal
kept = socket.create_server(("127.0.0.1", 4444))
print(cookie, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
""",
    "a filter of its own": """
import ctypes, struct
libc = ctypes.CDLL(None, use_errno=True)
allow = struct.pack("HBBI", 6, 0, 0, 0x7fff0000)
code = ctypes.create_string_buffer(allow)
prog = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(code)))
assert libc.syscall(317, 1, 0, prog) == 0
libc.syscall(317, 1, 8, prog)  # with a listener: refused, since there is one
socket.create_server(("127.0.0.1", 4444))
""",
}
# Programs without one: it may be handed on, and nothing of them may be found there.
LEAVE = {
    "abstract sockets": r"""
import os, time
r, w = os.pipe()
if os.fork() == 0:
    os.setsid()
    it = socket.socket(socket.AF_UNIX)
    it.bind("\0left")
    it.listen()
    os.write(w, b"x")
    time.sleep(60)
os.read(r, 1)
""",
    "sockets that hold each other": r"""
import array
for i in range(20):
    a, b = socket.socketpair()
    one = socket.socket(socket.AF_UNIX)
    one.bind("\0circle%d" % i)
    one.listen()
    fds = array.array("i", [a.fileno(), b.fileno(), one.fileno()])
    a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
    b.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
""",
    "names by themselves": """
for _ in range(50):
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    a.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    a.send(b"x")
""",
    "settings": r"""
import os
for where, folders, names in os.walk("/proc/sys/net"):
    for name in names:
        path = os.path.join(where, name)
        try:
            old = open(path).read()
        except OSError:
            continue
        for new in (old, "1", "0"):
            try:
                open(path, "w").write(new)
            except OSError:
                continue
            raise SystemExit("wrote " + path)
""",
    "the interface": r"""
import fcntl, struct
it = socket.socket(socket.AF_UNIX)
for request, flags in ((0x8914, 0), (0x8914, 0x41), (0x8922, 9000), (0x8943, 5), (0x8916, 0), (0x8923, 0)):
    try:
        fcntl.ioctl(it, request, struct.pack("16sh14x", b"lo", flags))
    except OSError:
        continue
    raise SystemExit("changed the loopback: %x" % request)
""",
}


def look_before_and_after(host, code):
    """The result of a program, and what each box sees after it, with what the first of all boxes saw."""
    looks = [{"code": LOOK}] * LOOKS
    results = host.batch([{"code": LOOK}] * WARM + [{"code": code, "timeout": 10}] + looks, "-j", "1")
    seen = [it["value"] for it in results[:WARM] + results[WARM + 1 :]]
    assert all(seen), results
    return results[WARM], seen[0], seen[WARM:]


@pytest.mark.parametrize("user", user_names())
def test_it_is_handed_on(hosts, user):
    """Else the others would show nothing."""
    cookies = [it["value"][0] for it in hosts(user).batch([{"code": LOOK}] * 30, "-j", "1")]
    assert len(set(cookies)) < 15, cookies


@pytest.mark.parametrize("user", user_names())
@pytest.mark.parametrize("name", TOUCH)
def test_one_with_an_internet_socket_is_not(hosts, user, name):
    result, new, looks = look_before_and_after(hosts(user), COOKIE + TOUCH[name] + "\ncookie")
    cookie = result["value"] if name != "killed" else int(result["stdout"])
    assert cookie and result["status"] == ("crashed" if name == "killed" else "ok"), result
    assert cookie not in [it[0] for it in looks]
    assert all(it[1] == new[1] for it in looks)


@pytest.mark.parametrize("user", user_names())
@pytest.mark.parametrize("name", LEAVE)
def test_nothing_is_left_in_it(hosts, user, name):
    result, new, looks = look_before_and_after(hosts(user), COOKIE + LEAVE[name])
    assert result["status"] == "ok" and not result["stderr"], result
    assert all(it[1] == new[1] for it in looks)


@pytest.mark.parametrize("user", user_names())
def test_it_is_never_shared(hosts, user):
    code = "import time\nbegan = time.monotonic()\n" + COOKIE + "time.sleep(0.02)\n[cookie, began, time.monotonic()]"
    runs = [it["value"] for it in hosts(user).batch([{"code": code}] * 80, "-j", "6")]
    by_cookie = {}
    for cookie, began, ended in runs:
        by_cookie.setdefault(cookie, []).append((began, ended))
    assert len(by_cookie) < len(runs), "none was handed on"
    for spans in by_cookie.values():
        spans.sort()
        assert all(one[1] < other[0] for one, other in zip(spans, spans[1:]))


FLOOD = """
import socket, threading
def ask():
    while True:
        socket.socket().close()
them = [threading.Thread(target=ask) for _ in range(30)]
[it.start() for it in them]
"""


@pytest.mark.parametrize("user", user_names())
def test_who_asks_all_the_time_is_ended_in_time(hosts, user):
    results = hosts(user).batch([{"code": FLOOD, "timeout": 1}, {"code": "1"}] * 3, "-j", "2")
    assert [it["status"] for it in results] == ["timeout", "ok"] * 3, results
    assert all(it["usage"]["wall_ms"] < 4000 for it in results)


# With so many descriptors on their way, whoever may have fewer open cannot send one: nor can init, with its last word.
ON_THEIR_WAY = """
import array, socket, sys
pairs = []
try:
    while True:
        a, b = socket.socketpair()
        pairs.append((a, b))
        for it in pairs[-1]:
            it.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [a.fileno(), b.fileno()] * 100))])
except OSError as e:
    assert e.errno == 109, e
sys.exit(3)
"""


@pytest.mark.parametrize("user", user_names())
def test_how_a_run_ended_is_told_all_the_same(hosts, user):
    runs = [{"code": "1"}] * WARM + [{"code": ON_THEIR_WAY}] * 4
    results = hosts(user).batch(runs, "-j", "1", "--open-files", "4096", before=["prlimit", "--nofile=512:8192"])
    assert [it["exit_code"] for it in results] == [0] * WARM + [3] * 4, results[-1]
