"""Reach services of the host by the path of their socket: ours, Docker, containerd, D-Bus, systemd, agents.

A pair made by socketpair can be connected, and a datagram one can send, to a path like any other socket.

levels: namespaces landlock
control: yes
"""

import glob
import socket

KNOWN = """
/var/run/docker.sock /run/docker.sock /run/containerd/containerd.sock /run/podman/podman.sock /run/crio/crio.sock
/run/dbus/system_bus_socket /run/systemd/private /run/systemd/journal/socket /run/systemd/notify /dev/log
/run/user/*/bus /run/user/*/docker.sock /run/user/*/podman/podman.sock /run/user/*/gnupg/S.* /tmp/ssh-*/agent.*
/run/user/*/systemd/private /tmp/.X11-unix/* /run/udev/control /run/snapd.socket /var/run/nscd/socket /tmp/*.sock
"""


def connects(path, kind):
    with socket.socket(socket.AF_UNIX, kind) as it:
        it.settimeout(0.3)
        it.connect(path)
    return True


def by_descriptor(path):
    return connects(f"/proc/self/fd/{os.open(path, os.O_PATH)}", socket.SOCK_STREAM)


def sends(path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as it:
        return it.sendto(b"hello", path) > 0


def sends_from_pair(path):
    near, _far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    return near.sendto(b"hello", path) > 0


def sends_message_from_pair(path):
    near, _far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    return near.sendmsg([b"hello"], [], 0, path) > 0


def connects_pair(path, kind):
    near, _far = socket.socketpair(socket.AF_UNIX, kind)
    near.connect(path)
    return True


targets = canary["unix"] + [path for it in KNOWN.split() for path in (glob.glob(it) if "*" in it else [it])]
for path in targets:
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM):
        attempt(f"connected to {path}", connects, path, kind)
        attempt(f"connected a pair to {path}", connects_pair, path, kind)
    attempt(f"connected to {path} by descriptor", by_descriptor, path)
    attempt(f"sent to {path}", sends, path)
    attempt(f"sent to {path} from a pair", sends_from_pair, path)
    attempt(f"sent a message to {path} from a pair", sends_message_from_pair, path)
    if "docker" in path:
        attempt(f"opened {path}", lambda path=path: os.open(path, os.O_RDWR) >= 0)
verdict()
