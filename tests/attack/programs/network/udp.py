"""Send datagrams to a service of the host's, and outwards.

levels: namespaces landlock
control: yes
"""

import socket

port = canary["ports"]["udp4"]


def sends(family, address, kind=socket.SOCK_DGRAM, protocol=0):
    with socket.socket(family, kind, protocol) as it:
        it.setblocking(False)
        return it.sendto(b"hello", address) > 0


def sends_connected(address):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as it:
        it.connect(address)
        return it.send(b"hello") and it.send(b"hello") > 0


def may_send(family):
    return socket.socket(family, socket.SOCK_DGRAM).fileno() >= 0


if canary["level"] == "landlock":
    for family in (socket.AF_INET, socket.AF_INET6):
        attempt(f"a datagram socket, {family}", may_send, family)
for address in (("127.0.0.1", port), ("127.255.255.255", port)):
    attempt("", lambda address=address: sends(socket.AF_INET, address) < 0)
    attempt("", lambda address=address: sends_connected(address) < 0)
for address in (("192.0.2.1", 9), ("10.0.0.1", 9), ("172.17.0.1", 9), ("224.0.0.1", 9), ("255.255.255.255", 9)):
    if canary["level"] == "landlock":
        attempt(f"a datagram to {address[0]}", sends, socket.AF_INET, address)
if canary["level"] == "landlock":
    attempt("UDP-Lite", sends, socket.AF_INET, ("127.0.0.1", port), socket.SOCK_DGRAM, 136)
verdict()  # the listening socket on the host tells whether anything came
