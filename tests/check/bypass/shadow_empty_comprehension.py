# An assignment expression in a comprehension over nothing.
# reaches: builtins.eval
[(eval := n) for n in ()]
REACHED = eval
