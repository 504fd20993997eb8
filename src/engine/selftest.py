"""Tries what a box must not allow; its value is the list of what came of it."""

import ctypes
import os
import socket

libc = ctypes.CDLL(None, use_errno=True)


def refused(number, *args):
    ctypes.set_errno(0)
    if libc.syscall(number, *args) >= 0:
        return None
    return os.strerror(ctypes.get_errno())


def read_shadow():
    open("/etc/shadow").close()


def write_usr():
    open("/usr/glovebox-was-here", "w").close()


def write_root():
    open("/glovebox-was-here", "w").close()


def see_others():
    if any(int(name) > 64 for name in os.listdir("/proc") if name.isdigit()):
        return
    raise PermissionError("only the box's own processes are visible")


def reach_network():
    with socket.socket() as s:
        s.settimeout(0.2)
        s.connect(("192.0.2.1", 9))


def become_root():
    os.setuid(0)


def have_capability():
    with open("/proc/self/status") as status:
        caps = [line.split()[1] for line in status if line.startswith(("CapEff", "CapPrm", "CapBnd"))]
    if all(int(cap, 16) == 0 for cap in caps):
        raise PermissionError("no capability in any set")


def kill_host():
    os.kill(os.getppid(), 9)
    os.kill(os.getppid(), 0)
    if os.getppid() == 1:
        raise PermissionError("the first process of a namespace cannot be killed from inside")


def system_call(number, *args):
    why = refused(number, *args)
    if why:
        raise PermissionError(why)


ATTEMPTS = [
    ("read /etc/shadow", read_shadow),
    ("write to /usr", write_usr),
    ("write to the root directory", write_root),
    ("see other processes", see_others),
    ("reach the network", reach_network),
    ("become root", become_root),
    ("have a capability", have_capability),
    ("kill the box's keeper", kill_host),
    ("mount a file system", lambda: system_call(165, b"none", b"/tmp", b"tmpfs", 0, None)),
    ("make a user namespace", lambda: system_call(272, 0x10000000)),
    ("trace another process", lambda: system_call(101, 16, 1, 0, 0)),
    ("load a kernel program", lambda: system_call(321, 0, 0, 0)),
    ("open an io_uring", lambda: system_call(425, 8, 0)),
]


def attempt(name, action):
    try:
        action()
    except Exception as exc:
        return {"name": name, "held": True, "detail": str(exc)}
    return {"name": name, "held": False, "detail": "it worked"}


[attempt(name, action) for name, action in ATTEMPTS]
