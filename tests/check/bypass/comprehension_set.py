# An element of a set comprehension.
# reaches: builtins.eval
REACHED = {f for f in (eval,)}.pop()
