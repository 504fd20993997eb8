# A function handed to a function, which gives it the module.
# reaches: os.system
import os


def visit(f):
    return f(os)


REACHED = visit(lambda anything: anything.system)
