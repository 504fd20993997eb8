# asdict() copies an object, whose class says what the copy is and what is set on it.
# reaches: a field of a dataclass with another name
# proof: REACHED == "x if print else 0"
from dataclasses import asdict, dataclass, fields
started = []


@dataclass
class Box:
    x: object


class State:
    def __new__(cls):
        if started:
            return fields(Box)[0]
        started.append(1)
        return object.__new__(cls)

    def __getstate__(self):
        return None, {"na" + "me": "x if print else 0"}


asdict(Box(State()))
REACHED = fields(Box)[0].name
