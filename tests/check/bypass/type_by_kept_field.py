# A field that is kept gets the annotation of its class, which is type.
# reaches: a class with a name that strict does not let a class define
# proof: REACHED.__dict__["__reduce_ex__"] == 1
from dataclasses import dataclass, field
kept = field()


@dataclass
class Box:
    kind: type = kept


parts = {"__redu" + "ce_ex__": 1}
REACHED = kept.type("A", (), parts)
