# Comparing hands type to a method of one's own.
# reaches: a class with a name that strict does not let a class define
# proof: REACHED.__dict__["__reduce_ex__"] == 1
got = []


class Same:
    def __eq__(self, other):
        got.append(other)
        return True


type == Same()
parts = {"__redu" + "ce_ex__": 1}
REACHED = got[0]("A", (), parts)
