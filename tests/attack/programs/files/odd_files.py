"""Leave files that break a collector: FIFOs, sockets, modes of 000, odd and endless names, deep paths.

levels: namespaces landlock
options: -o {out} --capture inline
within: 5
"""

import socket


def deep(levels):
    for _ in range(levels):
        os.mkdir("d" * 200)
        os.chdir("d" * 200)
    with open("bottom", "w") as out:
        out.write("deep")


os.mkfifo("fifo")
socket.socketpair()
attempt("", lambda: socket.socket(socket.AF_UNIX).bind("socket") is not None)
for name in (b"\xff\xfe", b"new\nline", b"\x1b[2J", b"a" * 255, b"..data", b"-rf", b'quote"\\', "\u202e".encode()):
    with open(name, "w") as out:
        out.write("odd")
with open("unreadable", "w") as out:
    out.write("x")
attempt("", lambda: os.chmod("unreadable", 0))
os.mkdir("closed")
with open("closed/inside", "w") as out:
    out.write("x")
attempt("", lambda: os.chmod("closed", 0))
attempt("", in_child, lambda: deep(40))
verdict()
