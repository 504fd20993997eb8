"""Leave processes that hold the workspace: as their directory, by mappings, by files still being written.

levels: namespaces landlock
within: 3
"""

import mmap
import time

for number in range(4):
    if os.fork() == 0:
        os.makedirs(f"dir-{number}", exist_ok=True)
        os.chdir(f"dir-{number}")
        fd = os.open("file", os.O_RDWR | os.O_CREAT)
        os.ftruncate(fd, 4096)
        held = mmap.mmap(fd, 4096)
        while True:
            held[0] = (held[0] + 1) % 256
            os.write(fd, b"x")
            time.sleep(0.001)
time.sleep(0.1)
verdict()
