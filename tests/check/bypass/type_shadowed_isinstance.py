# isinstance, where it may be a function of one's own.
# reaches: a class with a name that strict does not let a class define
# proof: REACHED.__dict__["__reduce_ex__"] == 1
got = []


def take(x, kind):
    got.append(kind)


if got == []:
    isinstance = take
isinstance(1, type)
parts = {"__redu" + "ce_ex__": 1}
REACHED = got[0]("A", (), parts)
