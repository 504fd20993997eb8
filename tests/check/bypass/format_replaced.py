# A format string with a placeholder for its dots.
# reaches: the text of a forbidden attribute
# proof: REACHED == "<class 'int'>"
REACHED = "{0-__class__}".replace("-", ".").format(1)
