"""Ask for more than anybody could keep, and read none of it; or let a child read it instead.

levels: namespaces landlock
variants: unread read-by-child given-up
options: -t 3 --tool t=cat
within: 7
expect: timeout | error
"""

import fcntl
import struct
import threading

tell = next(fd for fd in ways_out() if fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY)
kept, (read_end, write_end) = os.dup(tell), os.pipe()
os.dup2(write_end, tell)
threading.Thread(target=t, daemon=True).start()
token = struct.unpack("<IIQ", os.read(read_end, 16))[2]
os.read(read_end, 4096)
os.dup2(kept, tell)


def send(kind, text):
    data = struct.pack("<IIQ", kind, len(text), token) + text
    while data:
        data = data[os.write(tell, data):]


if canary["variant"] == "read-by-child" and os.fork() == 0:
    import socket

    for fd in ways_out():
        try:
            taken = socket.socket(fileno=fd)
            while taken.recv(1 << 16):
                pass
        except OSError:
            continue
    os._exit(0)
for number in range(2, 1 << 30):
    text = b"x" * (900_000 if canary["variant"] == "unread" else 10)
    send(16, b'{"id":%d,"name":"t","args":{"a":"%s"}}' % (number, text))
    if canary["variant"] == "given-up":
        send(17, b'{"id":%d}' % number)
