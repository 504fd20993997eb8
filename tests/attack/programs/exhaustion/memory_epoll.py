"""Fill the kernel's own memory: everything watched by many epoll descriptors.

levels: namespaces landlock
options: -t 20 --memory 64M
expect: ok | limit memory | limit open_files | error | crashed
"""

import select

WATCH = 200  # what the kernel takes for one


def fill():
    watched = [fd for _ in range(55) for fd in os.pipe()]
    kept, n = [], 0
    for _ in range(120):
        try:
            kept.append(select.epoll())
            for fd in watched:
                try:
                    kept[-1].register(fd)
                    n += 1
                except OSError:
                    continue
        except OSError:
            break
    return n * WATCH, (kept, watched)


total = crowd(56, fill, 12)
if total > 80 << 20:
    escapes.append(f"{total >> 20} MiB in watches")
verdict()
