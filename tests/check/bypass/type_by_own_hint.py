# A subscript in an annotation hands type to a class of one's own.
# reaches: a class with a name that strict does not let a class define
# proof: REACHED.__dict__["__reduce_ex__"] == 1
got = []


class Hint:
    def __class_getitem__(cls, item):
        got.append(item)


def f(x: Hint[type]):
    pass


parts = {"__redu" + "ce_ex__": 1}
REACHED = got[0]("A", (), parts)
