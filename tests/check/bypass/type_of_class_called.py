# The type of a class, called where it is asked for.
# reaches: a class with a name that strict does not let a class define
# proof: REACHED.__dict__["__reduce_ex__"] == 1
class C:
    pass


parts = {"__redu" + "ce_ex__": 1}
REACHED = type(C)("A", (), parts)
