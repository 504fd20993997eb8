"""Connect to services on the host's loopback address, by every spelling of it.

levels: namespaces landlock
control: yes
"""

import socket

ports = canary["ports"]
V4 = ("127.0.0.1", "localhost", "0.0.0.0", "127.0.0.2", "127.1", "2130706433", canary["hostname"])
V6 = ("::1", "::ffff:127.0.0.1", "::", "ip6-localhost")


def connects(family, host, port):
    with socket.socket(family, socket.SOCK_STREAM) as it:
        it.settimeout(0.3)
        it.connect((host, port))
    return True


def fast_open(port):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as it:
        it.settimeout(0.3)
        return it.sendto(b"hello", socket.MSG_FASTOPEN, ("127.0.0.1", port)) > 0


def without_waiting(port):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as it:
        it.setblocking(False)
        return it.connect_ex(("127.0.0.1", port)) in (0, errno.EINPROGRESS)


for host in V4:
    attempt(f"TCP to {host}", connects, socket.AF_INET, host, ports["tcp4"])
for host in V6:
    attempt(f"TCP to {host}", connects, socket.AF_INET6, host, ports["tcp6"])
    attempt(f"TCP to {host}, IPv4 port", connects, socket.AF_INET6, host, ports["tcp4"])
attempt("TCP fast open", fast_open, ports["tcp4"])
attempt(
    "MPTCP",
    lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262).connect(("127.0.0.1", ports["tcp4"])) is None,
)
if canary["level"] == "landlock":
    attempt("TCP without waiting", without_waiting, ports["tcp4"])
verdict()
