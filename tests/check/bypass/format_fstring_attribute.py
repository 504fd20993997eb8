# A forbidden attribute inside an f-string.
# reaches: the text of a forbidden attribute
# proof: REACHED == "<class 'int'>"
x = 1
REACHED = f"{x.__class__}"
