# The same, by another name of the table.
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


table = copy.dispatch_table
table.update({Key: reduce})
copy.copy(Key())
REACHED = fields(Box)[0].name
