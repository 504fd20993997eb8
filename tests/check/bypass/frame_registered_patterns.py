# Positional patterns of classes whose fields are named like a generator's and a frame's attributes.
# reaches: builtins.eval
# needs: 3.10
from collections.abc import Iterable
from dataclasses import make_dataclass


def reader(field):
    return make_dataclass("Reader", [field], bases=(Iterable,))


def read(thing, name):
    Reader = reader(name)
    Reader.register(type(thing))
    match thing:
        case Reader(found):
            return found


frame = read((x for x in ()), "gi_" + "frame")
REACHED = read(frame, "f_" + "builtins")["ev" + "al"]
