"""Fill the kernel's own memory: access lists as long as they go, on every file.

levels: namespaces landlock
options: -t 10 --memory 64M --disk 64M
expect: ok | limit memory | limit disk | error
"""

import struct


def entry(tag, who=0xFFFFFFFF):
    return struct.pack("<HHI", tag, 7, who)


LIST = struct.pack("<I", 2) + entry(1) + entry(2, os.getuid()) * 8000 + entry(4) + entry(16) + entry(32)
total = 0
for number in range(1500):
    name = f"f{number}"
    try:
        open(name, "w").close()
        os.setxattr(name, "system.posix_acl_access", LIST)
        total += len(LIST)
    except OSError:
        break
if total > 32 << 20:
    escapes.append(f"{total >> 20} MiB in access lists")
verdict()
