"""Open sockets of every rare family: VSOCK to the hypervisor, crypto, Bluetooth, CAN, TIPC and the rest.

levels: namespaces landlock
control: yes
"""

import ctypes
import socket

ORDINARY = {socket.AF_UNSPEC, socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK}
libc = ctypes.CDLL(None, use_errno=True)


def opens(family, kind, protocol=0):
    fd = libc.socket(family, kind, protocol)
    if fd >= 0:
        os.close(fd)
    return fd >= 0


for family in sorted(set(range(1, 64)) - {int(it) for it in ORDINARY}):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET, socket.SOCK_RDM):
        attempt(f"a socket of family {family}", opens, family, kind)
    attempt(f"a socket pair of family {family}", lambda it=family: libc.socketpair(it, 1, 0, (ctypes.c_int * 2)()) == 0)
if canary["level"] == "landlock":
    for family in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
            attempt(f"a socket of family {family}", opens, family, kind)
verdict()
