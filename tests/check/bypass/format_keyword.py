# Attribute access in a named field.
# reaches: the text of a forbidden attribute
# proof: "built-in function eval" in REACHED
REACHED = "{f.__globals__[__builtins__].eval}".format(f=lambda: 0)
