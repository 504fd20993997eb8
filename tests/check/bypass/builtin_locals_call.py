# The namespace of the place.
# reaches: builtins.eval
REACHED = locals()["__builtins__"].eval
