# The value that a function returns.
# reaches: os.system
import os


def get():
    return os


REACHED = get().system
