# The | of an annotation hands type to an object of one's own.
# reaches: a class with a name that strict does not let a class define
# proof: REACHED.__dict__["__reduce_ex__"] == 1
got = []


class Hint:
    def __ror__(self, other):
        got.append(other)


def f(x: type | Hint()):
    pass


parts = {"__redu" + "ce_ex__": 1}
REACHED = got[0]("A", (), parts)
