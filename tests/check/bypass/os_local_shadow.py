# A local variable called os in one function does not hide the module in another.
# reaches: os.system
import os


def harmless():
    os = 1
    return os


def get():
    return os.system


REACHED = get()
