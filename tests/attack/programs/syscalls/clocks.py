"""Set the host's clocks, in ways that would change nothing if they succeeded.

levels: namespaces landlock
"""

import ctypes
import time

TIMEX_WORDS, ADJ_TICK, ADJ_SETOFFSET = 26, 0x4000, 0x100


def timex(modes):
    words = (ctypes.c_long * TIMEX_WORDS)()
    words[0] = modes
    return words


for clock in (time.CLOCK_REALTIME, time.CLOCK_MONOTONIC, time.CLOCK_TAI, time.CLOCK_BOOTTIME):
    forbidden("clock_settime", clock, (ctypes.c_long * 2)(-1, -1))
    attempt(
        f"adjusted clock {clock}", in_child, lambda it=clock: syscall("clock_adjtime", it, timex(ADJ_SETOFFSET)) >= 0
    )
forbidden("settimeofday", (ctypes.c_long * 2)(-1, -1), 0)
forbidden("settimeofday", 0, (ctypes.c_int * 2)(0, 0))
attempt("adjusted the clock", in_child, lambda: syscall("adjtimex", timex(ADJ_SETOFFSET)) >= 0)
attempt("opened a clock", lambda: os.open("/dev/rtc0", os.O_RDONLY) >= 0)
attempt("opened a hardware clock", lambda: os.open("/dev/ptp0", os.O_RDWR) >= 0)
verdict()
