# A metaclass that typing happens to have makes a class of parts that were not seen.
# reaches: builtins
# needs: 3.9-3.12
import typing
from functools import update_wrapper
found = []


class Collect:
    def update(self, namespace):
        found.append(namespace)


Target = typing.ABCMeta("Target", (), {"__di" + "ct__": property(lambda self: Collect()), "__slots__": (),
                                       "__setattr__": lambda self, name, value: None})
update_wrapper(Target(), object)
REACHED = found[0]["__getattri" + "bute__"](print, "__self__")
