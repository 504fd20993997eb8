# The other method that formats.
# reaches: the text of a forbidden attribute
# proof: REACHED == "<class 'int'>"
REACHED = "{x.__class__}".format_map({"x": 1})
