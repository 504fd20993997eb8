# wraps above a function that another decorator replaced.
# reaches: builtins
from functools import wraps
found = []


class Collect:
    def update(self, namespace):
        found.append(namespace)


class Target:
    __slots__ = ()

    def __init__(self, f):
        pass

    def __setattr__(self, name, value):
        pass

    def __getattr__(self, name):
        return Collect()


@wraps(object)
@Target
def f():
    pass


REACHED = found[0]["__getattri" + "bute__"](print, "__self__")
