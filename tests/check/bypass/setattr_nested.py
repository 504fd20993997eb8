# A function __setattr__ inside a method.
# reaches: a field of a dataclass with another name
# proof: REACHED == "x if print else 0"
from dataclasses import dataclass, fields


@dataclass
class Box:
    x: object


class W:
    def make(self):
        def __setattr__(self, name, value):
            object.__setattr__(self, name, value)
        return __setattr__


put = W().make()
put(fields(Box)[0], "na" + "me", "x if print else 0")
REACHED = fields(Box)[0].name
