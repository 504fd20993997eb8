# A class pattern takes the method format.
# reaches: the text of an attribute
# proof: "builtins" in REACHED
# needs: 3.10
match "{0.__self__}":
    case str(format=f):
        REACHED = f(print)
