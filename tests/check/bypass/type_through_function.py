# type, handed through a function.
# reaches: a class with a name that strict does not let a class define
# proof: REACHED.__dict__["__reduce_ex__"] == 1
def same(x):
    return x


parts = {"__redu" + "ce_ex__": 1}
REACHED = same(type)("A", (), parts)
