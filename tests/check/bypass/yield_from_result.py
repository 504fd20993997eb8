# The value of a yield from expression.
# reaches: os.system
import os


def inner():
    yield 1
    return os


def outer():
    m = yield from inner()
    yield m.system


REACHED = list(outer())[1]
