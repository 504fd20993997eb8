# The method of a string of one's own class, from outside.
# reaches: the text of a forbidden attribute
# proof: "__main__" in REACHED
class Text(str):
    pass


def f():
    pass


REACHED = Text("{0.__globals__}").format(f)
