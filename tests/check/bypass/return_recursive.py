# The value that comes back through a recursion.
# reaches: os.system
import os


def down(n):
    if n == 0:
        return os
    return down(n - 1)


REACHED = down(3).system
