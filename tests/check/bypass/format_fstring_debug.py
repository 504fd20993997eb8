# A forbidden attribute inside an f-string that shows its source.
# reaches: the text of a forbidden attribute
# proof: REACHED.endswith("<class 'int'>")
x = 1
REACHED = f"{x.__class__ = }"
