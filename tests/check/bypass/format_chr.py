# A format string of computed characters.
# reaches: the text of a forbidden attribute
# proof: REACHED == "<class 'int'>"
REACHED = "".join(map(chr, [123, 48, 46, 95, 95, 99, 108, 97, 115, 115, 95, 95, 125])).format(1)
