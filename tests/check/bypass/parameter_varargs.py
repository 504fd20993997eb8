# Through the variable arguments.
# reaches: os.system
import os


def use(*modules):
    return modules[0].system


REACHED = use(os)
