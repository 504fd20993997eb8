# The method of a format string, kept and called later.
# reaches: the text of a forbidden attribute
# proof: REACHED == "<class 'int'>"
show = "{0.__class__}".format
REACHED = show(1)
