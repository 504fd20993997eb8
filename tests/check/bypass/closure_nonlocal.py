# A nested function that writes the variable of the function around it.
# reaches: os.system
import os


def outer():
    m = None

    def fill():
        nonlocal m
        m = os

    fill()
    return m.system


REACHED = outer()
