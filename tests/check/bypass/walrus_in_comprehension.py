# An assignment expression in a comprehension binds the name outside.
# reaches: builtins.eval
[f := x for x in [eval]]
REACHED = f
