"""Raise an error with an endless message, a long chain and a deep traceback.

levels: namespaces landlock
options: -t 10
within: 10
expect: error | limit memory | crashed
"""


def deeper(level):
    if level == 0:
        raise ValueError("\x1b\0\ud800" * (8 << 20))
    try:
        deeper(level - 1)
    except ValueError as error:
        raise ValueError(f"level {level}") from error


deeper(300)
