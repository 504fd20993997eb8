# Format strings in a list, each used in turn.
# reaches: the text of a forbidden attribute
# proof: REACHED[1] == "<class 'int'>"
REACHED = [t.format(1) for t in ("{0}", "{0.__class__}")]
