# A format string made of pieces.
# reaches: the text of a forbidden attribute
# proof: REACHED == "<class 'int'>"
REACHED = ("{0." + "__cl" + "ass__}").format(1)
