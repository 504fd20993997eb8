"""Fill the kernel's own memory: the buffers of socket pairs, from many processes.

levels: namespaces landlock
options: -t 6 --memory 256M
expect: ok | limit memory | limit open_files | error | crashed
"""

import socket


def fill():
    total, kept = 0, []
    while total < 64 << 20:
        try:
            pair = socket.socketpair()
        except OSError:
            break
        kept.append(pair)
        for it in pair:
            it.setblocking(False)
            try:
                it.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
                while True:
                    total += it.send(bytes(1 << 16))
            except OSError:
                continue
    return total, kept


total = crowd(24, fill)
if total > 1 << 30:
    escapes.append(f"{total >> 20} MiB in sockets")
verdict()
