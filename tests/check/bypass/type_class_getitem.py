# __class_getitem__ that returns type.
# reaches: a class with a name that strict does not let a class define
# proof: REACHED.__dict__["__reduce_ex__"] == 1
class C:
    def __class_getitem__(cls, item):
        return type


parts = {"__redu" + "ce_ex__": 1}
REACHED = C[0]("A", (), parts)
