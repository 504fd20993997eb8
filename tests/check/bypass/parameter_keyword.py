# As a keyword argument.
# reaches: os.system
import os


def use(*, module):
    return module.system


REACHED = use(module=os)
