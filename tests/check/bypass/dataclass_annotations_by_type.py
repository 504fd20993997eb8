# The same by a class made by type, whose annotations are not names.
# reaches: os.system
from dataclasses import dataclass

found = []
name = "x if {found.append(__import__('os').system)} else 0"
space = {"__anno" + "tations__": {name: int}, "x": 1}
C = dataclass(init=False, eq=False)(type("C", (), space))
repr(C())
REACHED = found[0]
