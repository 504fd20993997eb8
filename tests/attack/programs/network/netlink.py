"""Talk to the kernel by netlink: see the host's interfaces, routes, audit, devices; change them.

levels: namespaces landlock
control: yes
"""

import socket
import struct

ROUTE, AUDIT, UEVENT, NETFILTER, XFRM, GENERIC, CONNECTOR = 0, 9, 15, 12, 6, 16, 11
RTM_NEWLINK, RTM_GETLINK, RTM_GETROUTE, RTM_NEWADDR = 16, 18, 26, 20
REQUEST, DUMP, ACK, CREATE = 1, 0x300, 4, 0x400
# What the kernel puts into every network namespace by itself.
FALLBACKS = set("lo sit0 tunl0 gre0 gretap0 erspan0 ip_vti0 ip6_vti0 ip6tnl0 ip6gre0".split())


def asks(kind, flags):
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, ROUTE) as it:
        it.settimeout(0.3)
        it.bind((0, 0))
        body = struct.pack("BxHiII", 0, 0, 1, 1, 1)
        it.send(struct.pack("IHHII", 16 + len(body), kind, REQUEST | flags, 1, 0) + body)
        return it.recv(1 << 16)


def succeeds(kind, flags):
    reply = asks(kind, flags | ACK)
    return struct.unpack_from("H", reply, 4)[0] == 2 and struct.unpack_from("i", reply, 16)[0] == 0


def listens(protocol):
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol) as it:
        it.bind((0, 1))
    return True


if canary["level"] == "landlock":
    attempt("a netlink socket", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, ROUTE).fileno() >= 0)
attempt("interfaces besides lo", lambda: {name for _, name in socket.if_nameindex()} - FALLBACKS)
attempt(
    "an interface named eth", lambda: any(it in asks(RTM_GETLINK, DUMP) for it in (b"eth", b"enp", b"wlan", b"docker"))
)
attempt("changed an interface", succeeds, RTM_NEWLINK, 0)
attempt("made an address", succeeds, RTM_NEWADDR, CREATE)
for protocol in (AUDIT, UEVENT, NETFILTER, XFRM, CONNECTOR):
    attempt(f"listens to netlink {protocol}", listens, protocol)
verdict()
