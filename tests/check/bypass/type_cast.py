# typing.cast gives type back.
# reaches: a class with a name that strict does not let a class define
# proof: REACHED.__dict__["__reduce_ex__"] == 1
import typing
parts = {"__redu" + "ce_ex__": 1}
REACHED = typing.cast(int, type)("A", (), parts)
