# The method of str, called with the format string.
# reaches: the text of a forbidden attribute
# proof: REACHED == "<class 'int'>"
REACHED = str.format("{0.__class__}", 1)
