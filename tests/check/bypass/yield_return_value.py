# The value that a generator returns, out of StopIteration.
# reaches: os.system
import os


def gen():
    return os
    yield


try:
    next(gen())
except StopIteration as stop:
    REACHED = stop.value.system
