# The method of a class of one's own that is a string.
# reaches: the text of a forbidden attribute
# proof: "__main__" in REACHED
class Text(str):
    pass


REACHED = Text.format("{0.__globals__}", lambda: 0)
