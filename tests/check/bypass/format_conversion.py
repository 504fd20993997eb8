# Attribute access with a conversion.
# reaches: the text of a forbidden attribute
# proof: "function f" in REACHED or "__main__" in REACHED
def f():
    pass


REACHED = "{0.__globals__!r:.400}".format(f)
