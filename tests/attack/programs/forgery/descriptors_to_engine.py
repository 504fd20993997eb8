"""Send the engine descriptors that block whoever closes them.

levels: namespaces landlock
options: -t 2
within: 4
"""

import array
import socket
import stat
import struct


def send_one(fd):
    with socket.socket(fileno=os.dup(fd)) as channel:
        left, right = socket.socketpair()
        left.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 30))
        channel.setblocking(False)
        channel.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [left.fileno()]))])
        return True


for fd in range(3, 256):
    try:
        if stat.S_ISSOCK(os.fstat(fd).st_mode):
            attempt(f"descriptor {fd} carried a descriptor out", lambda fd=fd: send_one(fd))
    except OSError:
        pass
verdict()
