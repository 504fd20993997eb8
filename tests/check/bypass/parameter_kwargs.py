# Through the variable keyword arguments.
# reaches: os.system
import os


def use(**modules):
    for value in modules.values():
        return value.system


REACHED = use(x=os)
