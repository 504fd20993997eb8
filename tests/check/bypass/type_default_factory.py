# type, as the default factory of a field.
# reaches: a class with a name that strict does not let a class define
# proof: REACHED.__dict__["__reduce_ex__"] == 1
from dataclasses import dataclass, field


@dataclass
class Box:
    kind: object = field(default_factory=lambda: type)


parts = {"__redu" + "ce_ex__": 1}
REACHED = Box().kind("A", (), parts)
