# An annotation in text, evaluated by typing.
# reaches: os.system
import typing


class C:
    x: "__import__('os').system"


REACHED = typing.get_type_hints(C)["x"]
