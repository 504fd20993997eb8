# The __class__ of a class, called.
# reaches: a class with a name that strict does not let a class define
# proof: REACHED.__dict__["__reduce_ex__"] == 1
class C:
    pass


parts = {"__redu" + "ce_ex__": 1}
REACHED = C.__class__("A", (), parts)
