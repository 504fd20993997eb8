# The value that a generator yields.
# reaches: os.system
import os


def gen():
    yield os


REACHED = next(gen()).system
