"""Open files by handle, past every path (the "shocker" escape): made, guessed and swept handles.

levels: namespaces landlock
"""

import ctypes
import struct


def handle_of(path):
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0), 136)
    mount = ctypes.c_int()
    syscall("name_to_handle_at", -100, os.fsencode(path), handle, ctypes.byref(mount), 0)
    return handle


def opens(mount, handle):
    return syscall("open_by_handle_at", mount, handle, os.O_RDONLY) >= 0


mounts = []
for place in ("/", ".", "/usr", "/etc", "/proc", "/tmp", "/dev", "/etc/hostname", "/etc/resolv.conf", "/etc/hosts"):
    attempt(f"opened {place}", lambda place=place: mounts.append(os.open(place, os.O_RDONLY)))
for mount in mounts:
    for inode in (1, 2, 5, 64, 128, 256):
        for kind, guess in ((1, struct.pack("II", inode, 0)), (0x81, struct.pack("QI", inode, 0))):
            made = ctypes.create_string_buffer(struct.pack("Ii", len(guess), kind) + guess, 136)
            attempt(f"opened inode {inode} by handle", opens, mount, made)
    for path in ("/", ".", *canary["files"]):
        attempt(f"opened {path} by handle", lambda mount=mount, path=path: opens(mount, handle_of(path)))
    forbidden("open_by_handle_at", mount, 0, 0)
verdict()
