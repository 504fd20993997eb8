# The method of a string of one's own class.
# reaches: the text of a forbidden attribute
# proof: REACHED == "<class 'int'>"
class Text(str):
    def show(self, value):
        return self.format(value)


REACHED = Text("{0.__class__}").show(1)
