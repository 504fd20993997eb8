"""Have the kernel load a module, or reach a part of it that no ordinary program needs: odd protocols of ordinary
families, line disciplines, bridges and VLANs, encapsulation, upper-layer protocols, filters on sockets.

levels: namespaces landlock
"""

import ctypes
import pty
import socket
import struct

libc = ctypes.CDLL(None, use_errno=True)
SIOCGIFBR, SIOCGIFVLAN, TIOCSETD, TIOCSTI = 0x8940, 0x8982, 0x5423, 0x5412
PROTOCOLS = {"ICMP": 1, "IGMP": 2, "DCCP": 33, "ICMPv6": 58, "SCTP": 132, "UDPLITE": 136, "L2TP": 115, "MPTCP": 262, "odd": 253}
OPTIONS = {
    "TCP_ULP": (6, 31, b"tls"),
    "TCP_CONGESTION": (6, 13, b"reno"),
    "TCP_MD5SIG": (6, 14, bytes(216)),
    "TCP_REPAIR": (6, 19, struct.pack("i", -1)),
    "UDP_ENCAP": (17, 100, struct.pack("i", 2)),
    "UDP_SEGMENT": (17, 103, struct.pack("i", 1000)),
    "IP_OPTIONS": (0, 4, b"\1\1\1\0"),
    "IPT_SO_SET_REPLACE": (0, 64, bytes(96)),
    "IPV6_ADDRFORM": (41, 1, struct.pack("i", 2)),
    "SO_ZEROCOPY": (1, 60, struct.pack("i", 1)),
    "SO_TXTIME": (1, 61, struct.pack("iI", 1, 0)),
    "SO_ATTACH_FILTER": (1, 26, struct.pack("HxxxxxxP", 0, 0)),
    "SO_BINDTODEVICE": (1, 25, b"lo\0"),
}


def answers(call, *args):
    """A refusal by the filter is ENOSYS or EPERM; anything else is the kernel's own answer."""
    ctypes.set_errno(0)
    return call(*args) >= 0 or ctypes.get_errno() not in REFUSED


def opens(family, kind, protocol):
    return answers(libc.socket, family, kind, protocol)


def asks(fd, request):
    return answers(libc.ioctl, fd, ctypes.c_ulong(request), ctypes.create_string_buffer(256))


for family in (socket.AF_INET, socket.AF_INET6):
    for name, protocol in PROTOCOLS.items():
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
            fd = libc.socket(family, kind, protocol)
            attempt(f"a socket of {name}", lambda it=fd: it >= 0)
            if (name, kind) != ("MPTCP", socket.SOCK_STREAM):  # which says that there is no such protocol
                attempt(f"type {kind} of {name}", opens, family, kind, protocol)
    for kind in (0, socket.SOCK_RDM, socket.SOCK_SEQPACKET, 6, 10):
        attempt(f"type {kind}", opens, family, kind, 0)

targets = list(socket.socketpair())
if canary["level"] == "namespaces":
    targets += [socket.socket(family, kind) for family in (socket.AF_INET, socket.AF_INET6) for kind in (1, 2)]
for target in targets:
    for name, (level, option, value) in OPTIONS.items():
        attempt(f"option {name}", answers, libc.setsockopt, target.fileno(), level, option, value, len(value))
    for name, request in {"SIOCGIFBR": SIOCGIFBR, "SIOCGIFVLAN": SIOCGIFVLAN}.items():
        attempt(name, asks, target.fileno(), request)
for fd in pty.openpty() if canary["level"] == "namespaces" else [target.fileno()]:
    attempt("a line discipline", asks, fd, TIOCSETD)
    attempt("typing into a terminal", asks, fd, TIOCSTI)
if canary["level"] == "namespaces":
    # Of what ordinary programs do, nothing is lost.
    server = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(server.getsockname())
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    assert client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
verdict()
