# type, named by a walrus.
# reaches: a class with a name that strict does not let a class define
# proof: REACHED.__dict__["__reduce_ex__"] == 1
parts = {"__redu" + "ce_ex__": 1}
REACHED = (t := type)("A", (), parts)
