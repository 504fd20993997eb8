"""Refuse to end: ignore every signal, catch every exception, hold the interpreter, stop oneself.

levels: namespaces landlock
options: -t 0.5
within: 3
variants: ignore catch lock stop sleep children pause-parent
expect: timeout
"""

import signal
import threading
import time

for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        continue


def spin():
    while True:
        pass


def catch():
    while True:
        try:
            while True:
                time.sleep(0.01)
        except BaseException:
            continue


def children():
    for _ in range(8):
        if os.fork() == 0:
            os.setsid()
            while True:
                pass
    catch()


def lock():
    threading.Thread(target=catch).start()
    pow(7, 10**40000, 10**40000 + 7)  # one call in C, minutes long, that never looks at signals


WAYS = {
    "ignore": spin,
    "catch": catch,
    "lock": lock,
    "stop": lambda: os.kill(os.getpid(), signal.SIGSTOP) or catch(),
    "sleep": lambda: time.sleep(600),
    "children": children,
    "pause-parent": lambda: os.kill(os.getppid(), signal.SIGSTOP) or catch(),
}
try:
    WAYS[canary["variant"]]()
except OSError:
    catch()
