# copy.copy() sets what a reducer names, and its table of reducers can be changed.
# reaches: a field of a dataclass with another name
# proof: REACHED == "x if print else 0"
import copy
from dataclasses import dataclass, fields


@dataclass
class Box:
    x: object


class Key:
    pass


def reduce(key):
    return (lambda: fields(Box)[0]), (), (None, {"na" + "me": "x if print else 0"})


copy.dispatch_table[Key] = reduce
copy.copy(Key())
REACHED = fields(Box)[0].name
