# A forbidden builtin as the factory of asdict.
# reaches: the names of the frame
# proof: isinstance(REACHED, (dict, list))
from dataclasses import asdict, dataclass


@dataclass
class C:
    x: int = 0


REACHED = asdict(C(), dict_factory=lambda pairs: globals())
