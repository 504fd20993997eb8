# One of several values that a function returns.
# reaches: os.system
import os


def get():
    return 1, os


REACHED = get()[1].system
