# A format string by an assignment expression.
# reaches: the text of a forbidden attribute
# proof: REACHED == "<class 'int'>"
REACHED = (t := "{0.__class__}").format(1)
