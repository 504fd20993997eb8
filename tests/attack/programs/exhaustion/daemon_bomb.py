"""Make daemons, each in a session of its own with a parent that is gone.

levels: namespaces landlock
options: -t 5 --processes 32
expect: ok | limit processes | error | crashed
"""

import time

births, birth = os.pipe()
os.set_blocking(births, False)


def daemon():
    os.setsid()
    if os.fork() == 0:
        os.write(birth, b"x")
        time.sleep(3)
    os._exit(0)


for _ in range(300):
    try:
        pid = os.fork()
    except OSError:
        time.sleep(0.002)
        continue
    if pid == 0:
        try:
            daemon()
        except OSError:
            os._exit(0)
    os.waitpid(pid, 0)
count_births(births, 64, "daemons")
verdict()
