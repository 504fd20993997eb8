"""Load programs and maps into the kernel by bpf.

levels: namespaces landlock
control: yes
"""

import ctypes
import struct

MAP_CREATE, PROG_LOAD, OBJ_GET, PROG_GET_NEXT_ID, BTF_LOAD = 0, 5, 7, 11, 18
code = struct.pack("<BBhi", 0xB7, 0, 0, 0) + struct.pack("<BBhi", 0x95, 0, 0, 0)
program, licence = ctypes.create_string_buffer(code), ctypes.create_string_buffer(b"GPL")
load = struct.pack("<IIQQ", 1, 2, ctypes.addressof(program), ctypes.addressof(licence)).ljust(128, b"\0")
create = struct.pack("<5I", 2, 4, 4, 1, 0).ljust(128, b"\0")
for command, attributes in (
    (MAP_CREATE, create),
    (PROG_LOAD, load),
    (OBJ_GET, bytes(128)),
    (PROG_GET_NEXT_ID, bytes(128)),
):
    forbidden("bpf", command, attributes, 128)
forbidden("bpf", BTF_LOAD, 0, 0)
for path in ("/sys/fs/bpf", "/proc/self/fdinfo/9999"):
    attempt(f"listed {path}", os.listdir, path)
verdict()
