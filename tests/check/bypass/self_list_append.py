# A method of a list, to its class, to object, to everything.
# reaches: every class
# proof: dict in REACHED
REACHED = [].append.__self__.__class__.__base__.__subclasses__()
