# A function that is called __setattr__, and is no method.
# reaches: a field of a dataclass with another name
# proof: REACHED == "x if print else 0"
from dataclasses import dataclass, fields


@dataclass
class Box:
    x: object


def __setattr__(self, name, value):
    object.__setattr__(self, name, value)


put = __setattr__
put(fields(Box)[0], "na" + "me", "x if print else 0")
REACHED = fields(Box)[0].name
