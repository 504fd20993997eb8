# An index that leads from a list to an attribute.
# reaches: the text of a forbidden attribute
# proof: "method-wrapper" in REACHED or "bound method" in REACHED or "slot wrapper" in REACHED
REACHED = "{0[0].__init__}".format([1])
