# UserDict.copy() copies an object of one's own class.
# reaches: a field of a dataclass with another name
# proof: REACHED == "x if print else 0"
from collections import UserDict
from dataclasses import dataclass, fields
started = []


@dataclass
class Box:
    x: object


class State(UserDict):
    __copy__ = None

    def __new__(cls):
        if started:
            return fields(Box)[0]
        started.append(1)
        return object.__new__(cls)

    def __getstate__(self):
        return None, {"na" + "me": "x if print else 0"}


try:
    State().copy()
except AttributeError:
    pass
REACHED = fields(Box)[0].name
