"""Take a port of the host's: if the host's own listener is in the way, the network is the host's.

levels: namespaces landlock
control: yes
"""

import socket


def in_the_way(family, kind, address):
    with socket.socket(family, kind) as it:
        try:
            it.bind(address)
        except OSError as error:
            return error.errno == errno.EADDRINUSE
    return False


def listens(address):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as it:
        it.bind(address)
        it.listen()
    return True


ports = canary["ports"]
attempt("the host's TCP port is taken here too", in_the_way, socket.AF_INET, socket.SOCK_STREAM, ("", ports["tcp4"]))
attempt(
    "the host's TCP6 port is taken here too", in_the_way, socket.AF_INET6, socket.SOCK_STREAM, ("::", ports["tcp6"])
)
attempt("the host's UDP port is taken here too", in_the_way, socket.AF_INET, socket.SOCK_DGRAM, ("", ports["udp4"]))
attempt("the host's name is taken here too", in_the_way, socket.AF_UNIX, socket.SOCK_STREAM, "\0" + canary["abstract"])
if canary["level"] == "landlock":
    for address in (("127.0.0.1", 0), ("0.0.0.0", 0), ("0.0.0.0", 48123)):
        attempt(f"listens on {address}", listens, address)
attempt("a port below 1024", lambda: canary["level"] == "landlock" and listens(("0.0.0.0", 80)))
verdict()
