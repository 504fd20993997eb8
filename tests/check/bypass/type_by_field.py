# A field of a dataclass gives its annotation, which is type.
# reaches: a class with a name that strict does not let a class define
# proof: REACHED.__dict__["__reduce_ex__"] == 1
from dataclasses import dataclass, fields


@dataclass
class Box:
    kind: type


parts = {"__redu" + "ce_ex__": 1}
REACHED = fields(Box)[0].type("A", (), parts)
