# A format string made by another kind of formatting.
# reaches: the text of a forbidden attribute
# proof: REACHED == "<class 'int'>"
REACHED = ("{0.%sclass%s}" % ("__", "__")).format(1)
