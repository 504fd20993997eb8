# The method of a string, in a program that has a method of this name too.
# reaches: the text of a forbidden attribute
# proof: "__main__" in REACHED
class Other:
    def format(self):
        return ""


class Text(str):
    def show(self, value):
        return self.format(value)


REACHED = Text("{0.__globals__}").show(lambda: 0)
