# The cell of a closure.
# reaches: os
import os


def outer():
    m = os
    return lambda: m


REACHED = outer().__closure__[0].cell_contents
