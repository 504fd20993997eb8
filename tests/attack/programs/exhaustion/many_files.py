"""Make so many empty files that the file system's inodes run out.

levels: namespaces landlock
options: -t 20 --disk 32M
within: 20
expect: ok | limit disk | limit memory | error | crashed
"""

MANY = 120_000
count = 0
try:
    for folder in range(MANY // 1000):
        os.mkdir(str(folder))
        for name in range(1000):
            os.close(os.open(f"{folder}/{name}", os.O_WRONLY | os.O_CREAT))
            count += 1
except OSError:
    pass
if count >= MANY:
    escapes.append(f"{count} files")
verdict()
