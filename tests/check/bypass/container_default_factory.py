# A forbidden builtin as the default factory of a field.
# reaches: the names of the frame
# proof: "self" in REACHED or "__name__" in REACHED or isinstance(REACHED, dict)
from dataclasses import dataclass, field


@dataclass
class D:
    names: dict = field(default_factory=locals)


REACHED = D().names
