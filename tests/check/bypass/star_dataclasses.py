# A star import that brings the fields.
# reaches: os.system
from dataclasses import *

found = []


@dataclass
class A:
    x: int = 0


fields(A)[0].name = "x if {found.append(__import__('os').system)} else 0"


@dataclass(init=False, eq=False)
class B(A):
    pass


repr(B())
REACHED = found[0]
