"""Put a Landlock domain of one's own on top that allows everything, and try again what was refused.

levels: namespaces landlock
control: yes
"""

import ctypes
import socket
import struct

EVERYTHING, PATH_BENEATH = 0xFFFF, 1
libc = ctypes.CDLL(None, use_errno=True)


def loosen():
    ruleset = syscall("landlock_create_ruleset", (ctypes.c_uint64 * 3)(0x1FFF, 0, 0), 8, 0)
    rule = ctypes.create_string_buffer(struct.pack("<Qi", 0x1FFF, os.open("/", os.O_PATH)), 12)
    syscall("landlock_add_rule", ruleset, PATH_BENEATH, rule, 0)
    libc.prctl(38, 1, 0, 0, 0)
    syscall("landlock_restrict_self", ruleset, 0)


def after(road):
    try:
        loosen()
    except OSError:
        pass
    return road()


ROADS = {
    "read a secret": lambda: any(leaked(read(it)) for it in canary["files"] if os.access(it, os.R_OK)),
    "wrote a secret": lambda: os.open(canary["files"][0], os.O_WRONLY | os.O_APPEND) >= 0,
    "signalled the host": lambda: os.kill(canary["pid"], 0) is None,
    "connected": lambda: socket.create_connection(("127.0.0.1", canary["ports"]["tcp4"]), 0.3),
}
for name, road in ROADS.items():
    attempt(name, in_child, after, road)
verdict()
