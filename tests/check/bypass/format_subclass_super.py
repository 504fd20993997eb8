# The method, asked of super().
# reaches: the text of a forbidden attribute
# proof: REACHED == "<class 'int'>"
class Text(str):
    def show(self, value):
        return super().format(value)


REACHED = Text("{0.__class__}").show(1)
