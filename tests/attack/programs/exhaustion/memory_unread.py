"""Fill the kernel's own memory through few descriptors: connections that nobody accepts, datagrams that nobody reads.

What was sent stays when the sender is closed, so that no descriptor leads to it.

levels: namespaces
options: -t 15 --memory 64M
variants: unix tcp seqpacket datagrams
expect: ok | limit memory | limit open_files
"""

import socket
import time

FAMILY, KIND, LISTENERS = {
    "unix": (socket.AF_UNIX, socket.SOCK_STREAM, 2),
    "tcp": (socket.AF_INET, socket.SOCK_STREAM, 2),
    "seqpacket": (socket.AF_UNIX, socket.SOCK_SEQPACKET, 2),
    "datagrams": (socket.AF_UNIX, socket.SOCK_DGRAM, 100),
}[canary["variant"]]
ENOUGH = 512 << 20
PIECE = 190000 if KIND == socket.SOCK_DGRAM else 1 << 16


def listener(number):
    it = socket.socket(FAMILY, KIND)
    it.bind(f"\0{number}" if FAMILY == socket.AF_UNIX else ("127.0.0.1", 0))
    if KIND != socket.SOCK_DGRAM:
        it.listen(1 << 16)
    return it


def send_and_leave(to):
    """Bytes that stay in the kernel; OSError when no more connections are taken."""
    sent = 0
    with socket.socket(FAMILY, KIND) as it:
        it.settimeout(0.2)
        it.connect(to)
        it.setblocking(False)
        try:
            while True:
                sent += it.send(bytes(PIECE))
        except OSError:
            return sent


total = 0
try:
    kept = [listener(number) for number in range(LISTENERS)]
except PermissionError:
    kept = []  # of datagrams there are none, where they could be sent to the host's sockets
for it in kept:
    try:
        while total < ENOUGH:
            sent = send_and_leave(it.getsockname())
            total += sent
            if sent == 0:
                break
    except OSError:
        pass
time.sleep(0.2)  # what is held for shorter than the watcher looks is no hold
if total > 128 << 20:
    escapes.append(f"{total >> 20} MiB in sockets")
verdict()
