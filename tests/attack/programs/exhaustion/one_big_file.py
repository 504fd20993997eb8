"""Write one file that is larger than the disk limit.

levels: namespaces landlock
options: -t 6 --disk 32M
expect: ok | limit disk | error | crashed
"""

total = 0
fd = os.open("big", os.O_WRONLY | os.O_CREAT)
try:
    for _ in range(256):
        total += os.write(fd, b"\1" * (1 << 20))
except OSError:
    pass
if total > 64 << 20:
    escapes.append(f"{total >> 20} MiB in one file")
verdict()
