# The value that a generator delegates to.
# reaches: os.system
import os


def inner():
    yield os


def gen():
    yield from inner()


for m in gen():
    REACHED = m.system
