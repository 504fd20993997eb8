# The method of type that reads attributes by name.
# reaches: every class
# proof: dict in REACHED()
REACHED = type.__getattribute__(object, "__sub" + "classes__")
