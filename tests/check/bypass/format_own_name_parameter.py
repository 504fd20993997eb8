# The method of a parameter, in a class that has a method of this name too.
# reaches: the text of a forbidden attribute
# proof: "__main__" in REACHED
class Report:
    def format(self):
        return ""

    def show(self, template, value):
        return template.format(value)


REACHED = Report().show("{0.__globals__}", lambda: 0)
