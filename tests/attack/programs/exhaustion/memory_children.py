"""Spread the memory over many processes, each below the limit.

levels: namespaces landlock
options: -t 6 --memory 128M
expect: ok | limit memory | error | crashed
"""

EACH = 80 << 20


def fill():
    return EACH, b"\1" * EACH


total = crowd(12, fill)
if total > 512 << 20:
    escapes.append(f"{total >> 20} MiB in many processes")
verdict()
