# A module as a default, and its module.
# reaches: os
import random


def get(r=random):
    return r._os


REACHED = get()
