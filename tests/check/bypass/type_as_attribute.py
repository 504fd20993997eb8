# type, kept as an attribute of a class.
# reaches: a class with a name that strict does not let a class define
# proof: REACHED.__dict__["__reduce_ex__"] == 1
class C:
    pass


C.t = type
parts = {"__redu" + "ce_ex__": 1}
REACHED = C.t("A", (), parts)
