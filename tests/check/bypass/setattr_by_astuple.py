# The same, by astuple() and an object that answers for itself.
# reaches: a field of a dataclass with another name
# proof: REACHED == "x if print else 0"
from dataclasses import astuple, dataclass, fields
u = "_" * 2


@dataclass
class Box:
    x: object


class State:
    def __getattribute__(self, name):
        if name == u + "reduce_ex" + u:
            return lambda protocol: (lambda: fields(Box)[0], (), (None, {"na" + "me": "x if print else 0"}))


astuple(Box(State()))
REACHED = fields(Box)[0].name
