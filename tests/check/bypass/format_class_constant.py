# A template in a class, changed in a class below.
# reaches: the text of a forbidden attribute
# proof: "__main__" in REACHED
class Report:
    TEMPLATE = "{0}"

    def show(self, value):
        return self.TEMPLATE.format(value)


class Changed(Report):
    TEMPLATE = "{0.__globals__}"


REACHED = Changed().show(lambda: 0)
