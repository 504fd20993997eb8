# A class decorator that returns type.
# reaches: a class with a name that strict does not let a class define
# proof: REACHED.__dict__["__reduce_ex__"] == 1
@lambda cls: type
class make:
    pass


parts = {"__redu" + "ce_ex__": 1}
REACHED = make("A", (), parts)
