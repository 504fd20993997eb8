# A method __setattr__ that takes the value for the name.
# reaches: a field of a dataclass with another name
# proof: REACHED == "x if print else 0"
from dataclasses import dataclass, fields


@dataclass
class Box:
    x: object


class W:
    def __setattr__(self, name, value):
        object.__setattr__(fields(Box)[0], value, "x if print else 0")


W().x = "na" + "me"
REACHED = fields(Box)[0].name
