# The other method, called on str.
# reaches: the text of a forbidden attribute
# proof: REACHED == "<class 'int'>"
REACHED = str.format_map("{x.__class__}", {"x": 1})
