# type, called by reduce, over what partial keeps.
# reaches: a class with a name that strict does not let a class define
# proof: REACHED.__dict__["__reduce_ex__"] == 1
from functools import partial, reduce
parts = {"__redu" + "ce_ex__": 1}
REACHED = reduce(lambda make, part: partial(make, part), ["A", (), parts], type)()
