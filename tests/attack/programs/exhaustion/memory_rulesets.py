"""Fill the kernel's own memory: Landlock rules, many for each of many rulesets.

levels: namespaces landlock
options: -t 10 --memory 64M
expect: ok | limit memory | limit open_files | error | crashed
"""

import ctypes
import struct

WRITE_FILE = 1 << 1
for number in range(400):
    open(f"f{number}", "w").close()
rules, kept = 0, []
for _ in range(50):
    try:
        kept.append(syscall("landlock_create_ruleset", (ctypes.c_uint64 * 1)(WRITE_FILE), 8, 0))
        for number in range(400):
            fd = os.open(f"f{number}", os.O_PATH)
            try:
                syscall("landlock_add_rule", kept[-1], 1, ctypes.create_string_buffer(struct.pack("<Qi", WRITE_FILE, fd)), 0)
                rules += 1
            finally:
                os.close(fd)
    except OSError:
        continue
if rules > 5000:
    escapes.append(f"{rules} rules")
attempt("passed for the guest that seals itself",
        lambda: syscall("landlock_add_rule", kept[0], 1, (ctypes.c_uint64 * 2)(), 1 << 32) == 0)
verdict()
