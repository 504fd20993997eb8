# A format string written backwards.
# reaches: the text of a forbidden attribute
# proof: REACHED == "<class 'int'>"
REACHED = "}__ssalc__.0{"[::-1].format(1)
