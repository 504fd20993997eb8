"""Raw and packet sockets, ping sockets, SCTP, DCCP: below and beside TCP and UDP.

levels: namespaces landlock
"""

import socket

KINDS = {
    "raw IP": (socket.AF_INET, socket.SOCK_RAW, 255),
    "raw TCP": (socket.AF_INET, socket.SOCK_RAW, 6),
    "raw ICMP": (socket.AF_INET, socket.SOCK_RAW, 1),
    "raw IPv6": (socket.AF_INET6, socket.SOCK_RAW, 58),
    "packet": (socket.AF_PACKET, socket.SOCK_RAW, 0x300),
    "packet datagram": (socket.AF_PACKET, socket.SOCK_DGRAM, 0x300),
    "old packet": (socket.AF_INET, 10, 0x300),
    "SCTP": (socket.AF_INET, socket.SOCK_STREAM, 132),
    "DCCP": (socket.AF_INET, 6, 33),
}
for name, kind in KINDS.items():
    attempt(f"a {name} socket", lambda kind=kind: socket.socket(*kind).fileno() >= 0)


def pings():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 1) as it:
        it.settimeout(0.2)
        it.sendto(b"\x08\0\0\0\0\0\0\0", ("192.0.2.1", 0))
    return True


attempt("a ping", pings)
verdict()
