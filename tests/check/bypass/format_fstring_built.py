# A format string made by an f-string.
# reaches: the text of a forbidden attribute
# proof: REACHED == "<class 'int'>"
u = "__"
REACHED = f"{{0.{u}class{u}}}".format(1)
