# The attribute __base__ of a class of one's own.
# reaches: every class
# proof: dict in REACHED
class C:
    pass


REACHED = C.__base__.__subclasses__()
