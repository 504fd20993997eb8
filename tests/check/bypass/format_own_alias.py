# The method of str under another name in a class.
# reaches: the text of a forbidden attribute
# proof: "__main__" in REACHED
class Text(str):
    show = str.format


REACHED = Text("{0.__globals__}").show(lambda: 0)
