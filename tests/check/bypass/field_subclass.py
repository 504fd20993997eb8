# A field of one's own kind, whose name is text.
# reaches: os.system
# needs: 3.10
from dataclasses import MISSING, Field, dataclass

found = []


class Evil(Field):
    name = property(lambda self: "x if {found.append(__import__('os').system)} else 0",
                    lambda self, value: None)


@dataclass(init=False, eq=False)
class A:
    x: int = Evil(0, MISSING, True, True, None, True, {}, False)


a = A()
a.x = 0
repr(a)
REACHED = found[0]
