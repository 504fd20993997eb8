# A template that is added to.
# reaches: the text of an attribute
# proof: "builtins" in REACHED
t = "a" if 1 else "b"
t += "{0.__self__}"
REACHED = t.format(print)
