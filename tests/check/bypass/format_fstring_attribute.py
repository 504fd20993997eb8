# A forbidden attribute inside an f-string.
# reaches: the text of a forbidden attribute
# proof: REACHED.startswith("<function <lambda>") or "__main__" in REACHED
x = lambda: 0
REACHED = f"{x.__globals__}"
