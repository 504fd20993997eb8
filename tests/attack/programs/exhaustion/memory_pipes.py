"""Fill the kernel's own memory: pipes, made as large as they go, from many processes.

levels: namespaces landlock
options: -t 6 --memory 128M
expect: ok | limit memory | limit open_files | error | crashed
"""

import fcntl

F_SETPIPE_SZ = 1031


def enlarge(fd):
    for size in (1 << 20, 1 << 18, 1 << 16):
        try:
            return fcntl.fcntl(fd, F_SETPIPE_SZ, size)
        except OSError:
            continue
    return 0


def fill():
    total = 0
    while True:
        try:
            _out, into = os.pipe()
        except OSError:
            return total, None
        enlarge(into)
        os.set_blocking(into, False)
        try:
            while True:
                total += os.write(into, bytes(1 << 16))
        except OSError:
            continue


total = crowd(16, fill)
if total > 512 << 20:
    escapes.append(f"{total >> 20} MiB in pipes")
verdict()
