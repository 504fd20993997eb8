"""Read the kernel's secrets: addresses, memory, messages, keys, its image and its own directories.

levels: namespaces landlock
control: yes
"""

import glob
import re


def addresses(path):
    return re.search(rb"^(?!0+[- ])[0-9a-f]{8,}", read(path), re.MULTILINE)


for path in ("/proc/kallsyms", "/proc/iomem", "/proc/modules"):
    attempt(f"addresses in {path}", addresses, path)
for path in """/proc/kcore /proc/kmsg /proc/slabinfo /proc/vmallocinfo /proc/pagetypeinfo /proc/timer_list
        /proc/sched_debug /proc/kpagecount /proc/kpageflags /dev/kmsg /dev/mem /dev/kmem /dev/port""".split():
    attempt(f"read {path}", read, path, 4096)
for pattern in ("/boot/*", "/sys/kernel/*", "/sys/kernel/debug/*", "/sys/kernel/tracing/*", "/sys/firmware/*/*"):
    for path in glob.glob(pattern):
        attempt(f"read {path}", read, path, 4096)
attempt("a key of the host in /proc/keys", lambda: canary["name"].encode() in read("/proc/keys"))
verdict()
