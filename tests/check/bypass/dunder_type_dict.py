# The method of type, out of its namespace.
# reaches: every class
# proof: dict in REACHED
REACHED = type.__dict__["__subclasses__"](object)
