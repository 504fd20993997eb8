# type of a class is type itself, which makes classes of parts that were not seen.
# reaches: builtins
from functools import update_wrapper
found = []
make = type(int)


class Collect:
    def update(self, namespace):
        found.append(namespace)


Target = make("Target", (), {"__di" + "ct__": property(lambda self: Collect()), "__slots__": (),
                             "__setattr__": lambda self, name, value: None})
update_wrapper(Target(), object)
REACHED = found[0]["__getattri" + "bute__"](print, "__self__")
