# A format string that a condition chooses.
# reaches: the text of a forbidden attribute
# proof: REACHED == "<class 'int'>"
REACHED = ("{0}" if False else "{0.__class__}").format(1)
