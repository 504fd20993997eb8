# The code of a generator.
# reaches: a code object
# proof: isinstance(REACHED, types.CodeType)
REACHED = (x for x in ()).gi_code
