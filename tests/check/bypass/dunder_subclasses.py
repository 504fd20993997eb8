# From a tuple to every class of the interpreter.
# reaches: every class
# proof: dict in REACHED
REACHED = ().__class__.__bases__[0].__subclasses__()
