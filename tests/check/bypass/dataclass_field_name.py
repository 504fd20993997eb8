# The name of a field becomes a part of the text that dataclass runs; a field can be renamed.
# reaches: os.system
from dataclasses import dataclass, fields

found = []


@dataclass
class A:
    x: int = 0


for f in fields(A):
    f.name = "x if {found.append(__import__('os').system)} else 0"


@dataclass(init=False, eq=False)
class B(A):
    pass


repr(B())
REACHED = found[0]
