# The field of a dataclass, kept while the class is made, and renamed later.
# reaches: os.system
from dataclasses import dataclass, field

found, kept = [], []


@dataclass
class A:
    x: int = field(default=0)
    kept.append(x)


kept[0].name = "x if {found.append(__import__('os').system)} else 0"


@dataclass(init=False, eq=False)
class B(A):
    pass


repr(B())
REACHED = found[0]
