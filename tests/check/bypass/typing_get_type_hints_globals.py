# Text that is evaluated in a namespace of one's own.
# reaches: builtins.eval
from typing import get_type_hints


def f(x: "eval"):
    pass


REACHED = get_type_hints(f, {})["x"]
