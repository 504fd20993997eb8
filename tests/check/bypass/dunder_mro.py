# The method mro, whose name has no underscores, on the way to every class.
# reaches: every class
# proof: dict in REACHED
REACHED = (1).__class__.mro()[-1].__subclasses__()
