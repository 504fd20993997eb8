# A name that is bound twice, and holds two texts of one of the two.
# reaches: the text of an attribute
# proof: "builtins" in REACHED
t = "a" if 1 else "b"
t = "".join(["{0.__se", "lf__}"])
REACHED = t.format(print)
