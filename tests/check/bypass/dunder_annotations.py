# The annotations of a module, evaluated and kept.
# reaches: builtins.eval
x: eval = 1
REACHED = __annotations__["x"]
