# update_wrapper of a name that is a function first, and an object of one's own later.
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


def target():
    pass


for target in [Target()]:
    update_wrapper(target, object)
REACHED = found[0]["__getattri" + "bute__"](print, "__self__")
