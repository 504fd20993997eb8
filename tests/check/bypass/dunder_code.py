# The code of a function.
# reaches: a code object
# proof: isinstance(REACHED, types.CodeType)
REACHED = (lambda: 0).__code__
