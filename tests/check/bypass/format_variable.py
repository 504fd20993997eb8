# A format string in a variable.
# reaches: the text of a forbidden attribute
# proof: REACHED == "<class 'int'>"
template = "{0.__class__}"
REACHED = template.format(1)
