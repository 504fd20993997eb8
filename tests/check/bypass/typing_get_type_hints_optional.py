# Text inside a type.
# reaches: os.system
from typing import List, get_args, get_type_hints


def f(x: List["__import__('os').system"]):
    pass


REACHED = get_args(get_type_hints(f)["x"])[0]
