# A format string joined from a list.
# reaches: the text of a forbidden attribute
# proof: REACHED == "<class 'int'>"
REACHED = "__".join(["{0.", "class", "}"]).format(1)
