# A star import that brings a function which evaluates text.
# reaches: os.system
from typing import *


def f(x: "__import__('os').system"):
    pass


REACHED = get_type_hints(f)["x"]
