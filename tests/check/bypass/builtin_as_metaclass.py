# A forbidden builtin as a metaclass.
# reaches: the names of a class body
# proof: REACHED["secret"] == 1
def meta(name, bases, ns):
    return ns


class REACHED(metaclass=meta):
    secret = 1
    tool = eval
