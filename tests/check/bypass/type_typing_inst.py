# typing.Type[int] refuses to be called by a flag that can be set.
# reaches: a class with a name that strict does not let a class define
# proof: REACHED.__dict__["__reduce_ex__"] == 1
import typing
make = typing.Type[int]
make._inst = True
parts = {"__redu" + "ce_ex__": 1}
REACHED = make("A", (), parts)
