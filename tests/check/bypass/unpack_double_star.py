# By spreading a dictionary into keyword arguments.
# reaches: os.system
import os


def take(**kw):
    return kw["m"].system


REACHED = take(**{"m": os})
