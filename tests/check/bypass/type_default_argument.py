# type, as the default of a parameter.
# reaches: a class with a name that strict does not let a class define
# proof: REACHED.__dict__["__reduce_ex__"] == 1
def make(*parts, by=type):
    return by(*parts)


parts = {"__redu" + "ce_ex__": 1}
REACHED = make("A", (), parts)
