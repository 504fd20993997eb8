"""Watch the machine by perf_event_open: one's own, another process', a whole processor, tracepoints.

levels: namespaces landlock
control: yes
"""

import struct

SIZE = 136


def event(kind, config, flags=0):
    return struct.pack("<IIQQQQQ", kind, SIZE, config, 0, 0, 0, flags).ljust(SIZE, b"\0")


EXCLUDE_KERNEL = 1 << 5 | 1 << 6
for pid, cpu in ((0, -1), (canary["pid"], -1), (-1, 0), (os.getppid(), -1)):
    for attributes in (event(0, 0, EXCLUDE_KERNEL), event(1, 0, EXCLUDE_KERNEL), event(1, 2), event(2, 1), event(5, 0)):
        forbidden("perf_event_open", attributes, pid, cpu, -1, 0, held=(errno.ESRCH,))
verdict()
