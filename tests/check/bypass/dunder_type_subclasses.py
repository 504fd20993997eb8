# The method of type, given object.
# reaches: every class
# proof: dict in REACHED
REACHED = type.__subclasses__(object)
