# The field of a dataclass, renamed by the target of a loop.
# reaches: os.system
from dataclasses import dataclass, fields

found = []


@dataclass
class A:
    x: int = 0


for fields(A)[0].name in ["x if {found.append(__import__('os').system)} else 0"]:
    pass


@dataclass(init=False, eq=False)
class B(A):
    pass


repr(B())
REACHED = found[0]
