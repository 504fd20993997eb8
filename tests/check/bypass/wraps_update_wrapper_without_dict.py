# The same by update_wrapper.
# reaches: builtins
from functools import update_wrapper
found = []


class Collect:
    def update(self, namespace):
        found.append(namespace)


class Target:
    __slots__ = ()

    def __setattr__(self, name, value):
        pass

    def __getattr__(self, name):
        return Collect()


update_wrapper(Target(), object)
read = found[0]["__getattri" + "bute__"]
REACHED = read(print, "__self__")
