# Attribute access in a format string.
# reaches: the text of a forbidden attribute
# proof: REACHED == str(object.__subclasses__)
REACHED = "{0.__subclasses__}".format(object)
