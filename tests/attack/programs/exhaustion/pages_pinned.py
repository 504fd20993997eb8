"""Keep pages of files in pipes and sockets, where each piece holds on to the whole that the kernel read at once.

levels: namespaces landlock
"""

import ctypes
import socket

with open("file", "wb") as out:
    out.write(b"x" * (4 << 20))
file = os.open("file", os.O_RDONLY)
out, into = os.pipe()
others = os.pipe()
near, far = socket.socketpair()
libc = ctypes.CDLL(None, use_errno=True)
libc.splice.restype = libc.tee.restype = libc.sendfile.restype = libc.vmsplice.restype = ctypes.c_ssize_t
os.write(into, b"x")
attempt("splice", lambda: libc.splice(file, None, into, None, ctypes.c_size_t(4096), 0) > 0)
attempt("tee", lambda: libc.tee(out, others[1], ctypes.c_size_t(1), 0) > 0)
attempt("sendfile to a pipe", lambda: libc.sendfile(into, file, None, ctypes.c_size_t(4096)) > 0)
attempt("sendfile to a socket", lambda: libc.sendfile(near.fileno(), file, None, ctypes.c_size_t(4096)) > 0)
attempt("vmsplice", lambda: libc.vmsplice(into, (ctypes.c_uint64 * 2)(), ctypes.c_size_t(1), 0) >= 0)

# What programs do instead.
import shutil

shutil.copyfile("file", "copy")
near.setblocking(True)
with open("file", "rb") as whole:
    whole.seek((4 << 20) - 100)
    if near.sendfile(whole, (4 << 20) - 100) != 100 or os.path.getsize("copy") != 4 << 20:
        raise RuntimeError("the library does not fall back")
verdict()
