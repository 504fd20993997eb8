# A forbidden attribute inside an f-string that shows its source.
# reaches: the text of a forbidden attribute
# proof: REACHED.startswith("x.__code__ = <code object")
x = lambda: 0
REACHED = f"{x.__code__ = }"
