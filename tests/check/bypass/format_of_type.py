# The method of the class of a string.
# reaches: the text of a forbidden attribute
# proof: REACHED == "<class 'int'>"
text = type("")
REACHED = text.format("{0.__class__}", 1)
