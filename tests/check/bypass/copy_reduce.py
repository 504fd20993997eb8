# copy.copy() sets what a class's own reducer names.
# reaches: a field of a dataclass with another name
# proof: REACHED == "x if print else 0"
import copy
from dataclasses import dataclass, fields


@dataclass
class Box:
    x: object


class Key:
    def __reduce_ex__(self, version):
        return (lambda: fields(Box)[0]), (), (None, {"na" + "me": "x if print else 0"})


copy.copy(Key())
REACHED = fields(Box)[0].name
