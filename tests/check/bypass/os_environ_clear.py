# The environment, emptied through a parameter.
# reaches: a changed environment
# proof: not os.environ
import os


def wipe(mapping):
    mapping.clear()


wipe(os.environ)
REACHED = os.environ
