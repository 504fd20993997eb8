"""Reach services of the host by their abstract Unix addresses, the known ones and by autobind.

levels: namespaces landlock
control: yes
"""

import glob
import socket

KNOWN = ("/tmp/.X11-unix/X0", "/org/kernel/linux/storage/multipathd", "/containerd-shim/default", "/tmp/dbus-1")


def connects(name, kind):
    with socket.socket(socket.AF_UNIX, kind) as it:
        it.settimeout(0.3)
        it.connect("\0" + name)
    return True


def sends(name):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as it:
        return it.sendto(b"hello", "\0" + name) > 0


def connects_pair(name):
    near, _far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    near.connect("\0" + name)
    return True


def seen(path):
    return canary["abstract"].encode() in read(path)


for name in (canary["abstract"], *KNOWN):
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
        attempt(f"connected to @{name}", connects, name, kind)
    attempt(f"sent to @{name}", sends, name)
    attempt(f"connected a pair to @{name}", connects_pair, name)
for path in glob.glob("/proc/net/unix") + glob.glob("/proc/[0-9]*/net/unix"):
    attempt(f"the host's sockets are listed in {path}", seen, path)
verdict()
