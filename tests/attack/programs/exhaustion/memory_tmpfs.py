"""Fill memory by way of files: every place that can be written, /tmp, /dev/shm, the workspace and others.

levels: namespaces landlock
options: -t 8 --memory 128M --disk 64M
expect: ok | limit memory | limit disk | error | crashed
"""

import time

places = {os.getcwd(), "/tmp", "/dev/shm", "/var/tmp", "/run", "/run/lock", "/dev", "/mnt", "/dev/mqueue", "/"}
places |= {os.environ.get("TMPDIR", "/tmp"), os.environ.get("HOME", "/")}
total = 0


def fills(place):
    global total
    for number in range(32):
        fd = os.open(f"{place}/gb-fill-{number}", os.O_WRONLY | os.O_CREAT)
        for _ in range(4):
            total += os.write(fd, b"\1" * (4 << 20))
        os.close(fd)


for place in places:
    if total < 1 << 30:
        attempt("", fills, place)
if total > 384 << 20:
    time.sleep(2)
    escapes.append(f"{total >> 20} MiB in files")
verdict()
