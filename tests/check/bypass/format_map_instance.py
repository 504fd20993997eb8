# The other method of a string of one's own class.
# reaches: the text of a forbidden attribute
# proof: "__main__" in REACHED
class Text(str):
    pass


REACHED = Text("{f.__globals__}").format_map({"f": lambda: 0})
