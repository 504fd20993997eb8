# A forbidden attribute inside the format of an f-string's field.
# reaches: the text of a forbidden attribute
# proof: REACHED == "    1"
def width(x=5):
    return x


REACHED = f"{1:{width.__defaults__[0]}}"
