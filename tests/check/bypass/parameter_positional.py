# The module os as an argument.
# reaches: os.system
import os


def use(module):
    return module.system


REACHED = use(os)
