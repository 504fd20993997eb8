"""A fork bomb. Should nothing hold it, it ends by itself after ten generations.

levels: namespaces landlock
options: -t 5 --processes 32
expect: ok | limit processes | error | crashed
"""

import time

root = os.getpid()
births, birth = os.pipe()
os.set_blocking(births, False)
for _generation in range(10):
    try:
        if os.fork() == 0:
            os.write(birth, b"x")
    except OSError:
        time.sleep(0.05)
if os.getpid() != root:
    time.sleep(3)
    os._exit(0)
count_births(births, 64, "processes")
verdict()
