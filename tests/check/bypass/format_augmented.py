# A harmless format string that grows.
# reaches: the text of a forbidden attribute
# proof: REACHED == "<class 'int'>"
t = "{0"
t += ".__class__}"
REACHED = t.format(1)
