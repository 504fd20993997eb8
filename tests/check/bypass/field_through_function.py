# The field of a dataclass, handed to a function from the body of the class.
# reaches: os.system
from dataclasses import dataclass, field

found, kept = [], []


def keep(thing):
    kept.append(thing)
    return thing


@dataclass
class A:
    x: int = keep(field(default=0))


kept[0].name = "x if {found.append(__import__('os').system)} else 0"


@dataclass(init=False, eq=False)
class B(A):
    pass


repr(B())
REACHED = found[0]
