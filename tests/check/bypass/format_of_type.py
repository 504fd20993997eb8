# The method of the class of a string.
# reaches: the text of a forbidden attribute
# proof: REACHED == "<class 'int'>"
REACHED = type("")
REACHED = REACHED.format("{0.__class__}", 1)
