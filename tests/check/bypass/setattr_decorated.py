# A method __setattr__ that a decorator keeps.
# reaches: a field of a dataclass with another name
# proof: REACHED == "x if print else 0"
from dataclasses import dataclass, fields


@dataclass
class Box:
    x: object


kept = []


class W:
    @kept.append
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)


put = kept[0]
put(fields(Box)[0], "na" + "me", "x if print else 0")
REACHED = fields(Box)[0].name
