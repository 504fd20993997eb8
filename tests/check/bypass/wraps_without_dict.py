# wraps asks for the namespace of its target, which answers with a collector of one's own.
# reaches: builtins
from functools import wraps
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


wraps(object)(Target())
read = found[0]["__getattri" + "bute__"]
REACHED = read(print, "__self__")
