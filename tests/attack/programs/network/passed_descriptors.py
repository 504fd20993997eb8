"""Receive descriptors from the engine's side of inherited sockets, and send it some, with a forged sender.

levels: namespaces landlock
expect: ok | error | crashed
"""

import array
import socket
import stat
import struct


def receives(it):
    size = socket.CMSG_LEN(64 * 4)
    _data, extra, _flags, _from = it.recvmsg(1 << 16, size, socket.MSG_DONTWAIT)
    for level, kind, data in extra:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            fds = array.array("i", data[: len(data) - len(data) % 4])
            if any(stat.S_ISREG(os.fstat(fd).st_mode) or stat.S_ISDIR(os.fstat(fd).st_mode) for fd in fds):
                return True
    return False


def sends(it, kind, data):
    return it.sendmsg([b"\n"], [(socket.SOL_SOCKET, kind, data)], socket.MSG_DONTWAIT) > 0


for fd in range(1024):
    try:
        inherited = socket.socket(fileno=os.dup(fd)) if stat.S_ISSOCK(os.fstat(fd).st_mode) else None
    except OSError:
        continue
    if inherited:
        attempt(f"received a file of the host on {fd}", receives, inherited)
        attempt(f"sent as root on {fd}", sends, inherited, socket.SCM_CREDENTIALS, struct.pack("iII", 1, 0, 0))
        for _ in range(8):
            attempt("", lambda it=inherited: sends(it, socket.SCM_RIGHTS, array.array("i", [0] * 250)) < 0)
        attempt("", lambda it=inherited: it.shutdown(socket.SHUT_RD) is not None)
verdict()
