"""Put filters of one's own on top: allow everything, trace, or answer calls by user notification.

levels: namespaces landlock
control: yes
"""

import ctypes
import struct
import threading

ALLOW, TRACE, LOG, NOTIFY = 0x7FFF0000, 0x7FF00000, 0x7FFC0000, 0x7FC00000
MODE_FILTER, NEW_LISTENER, TSYNC, NEWUSER = 1, 8, 1, 0x10000000
RECV, SEND, CONTINUE = 0xC0502100, 0xC0182101, 1
libc = ctypes.CDLL(None, use_errno=True)


def install(answer, flags=0):
    program = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, answer), 8)
    described = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(program)), 16)
    libc.prctl(38, 1, 0, 0, 0)
    return syscall("seccomp", MODE_FILTER, flags, described)


def still_works(answer, flags):
    try:
        install(answer, flags)
    except OSError:
        pass
    return syscall("unshare", NEWUSER) == 0


def listener_for(number):
    """A filter that hands one call to a supervisor of ours, which lets it go on."""
    code = struct.pack("HBBI", 0x20, 0, 0, 0) + struct.pack("HBBI", 0x15, 0, 1, number)
    code += struct.pack("HBBI", 6, 0, 0, NOTIFY) + struct.pack("HBBI", 6, 0, 0, ALLOW)
    program = ctypes.create_string_buffer(code, len(code))
    described = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 4, ctypes.addressof(program)), 16)
    libc.prctl(38, 1, 0, 0, 0)
    return syscall("seccomp", MODE_FILTER, NEW_LISTENER, described)


def answer_all(fd):
    request = ctypes.create_string_buffer(80)
    while libc.ioctl(fd, ctypes.c_ulong(RECV), request) == 0:
        reply = struct.pack("QqiI", struct.unpack_from("Q", request)[0], 0, 0, CONTINUE)
        libc.ioctl(fd, ctypes.c_ulong(SEND), ctypes.create_string_buffer(reply, 24))
        ctypes.memset(request, 0, 80)


def supervised():
    fd = listener_for(number_of("keyctl"))
    threading.Thread(target=answer_all, args=(fd,), daemon=True).start()
    return syscall("keyctl", 0, -1, 1, 0, 0) > 0


for answer in (ALLOW, TRACE, LOG):
    for flags in (0, TSYNC):
        attempt(f"got past the filter by {answer:#x}", in_child, still_works, answer, flags)
attempt("got past the filter by a supervisor", in_child, supervised)
verdict()
