# As a default value.
# reaches: os.system
import os


def use(module=os):
    return module.system


REACHED = use()
