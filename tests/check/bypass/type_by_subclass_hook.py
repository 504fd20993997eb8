# issubclass hands type to a class of one's own.
# reaches: a class with a name that strict does not let a class define
# proof: REACHED.__dict__["__reduce_ex__"] == 1
got = []


class Meta(type):
    def __subclasscheck__(cls, other):
        got.append(other)
        return True


class C(metaclass=Meta):
    pass


issubclass(type, C)
parts = {"__redu" + "ce_ex__": 1}
REACHED = got[0]("A", (), parts)
