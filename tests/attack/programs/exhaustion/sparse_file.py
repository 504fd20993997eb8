"""Make files of 100 GB that take no room, for whoever copies them: by truncate, by seeking, by fallocate.

levels: namespaces landlock
options: -t 5
within: 5
expect: ok | limit disk | crashed
"""

SIZE = 100 << 30


def seeks():
    fd = os.open("seek", os.O_RDWR | os.O_CREAT)
    os.pwrite(fd, b"x", SIZE - 1)
    return os.fstat(fd).st_size >= SIZE


def truncates():
    fd = os.open("truncated", os.O_RDWR | os.O_CREAT)
    os.ftruncate(fd, SIZE)
    return os.fstat(fd).st_size >= SIZE


def allocates():
    fd = os.open("allocated", os.O_RDWR | os.O_CREAT)
    os.posix_fallocate(fd, 0, SIZE)
    return os.fstat(fd).st_size >= SIZE


for road in (seeks, truncates, allocates):
    attempt(f"a file of 100 GB, {road.__name__}", road)
verdict()
