# A metaclass takes __setattr__ from the namespace of a class.
# reaches: a field of a dataclass with another name
# proof: REACHED == "x if print else 0"
from dataclasses import dataclass, fields


@dataclass
class Box:
    x: object


kept = []


class Meta(type):
    def __new__(mcs, name, bases, namespace):
        kept.append(namespace["__set" + "attr__"])
        return super().__new__(mcs, name, bases, namespace)


class W(metaclass=Meta):
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)


put = kept[0]
put(fields(Box)[0], "na" + "me", "x if print else 0")
REACHED = fields(Box)[0].name
