# By spreading a list into the arguments of a call.
# reaches: os.system
import os


def take(*args):
    return args[0].system


REACHED = take(*[os])
