# A class with a format() of its own, whose objects are texts.
# reaches: the text of an attribute
# proof: "builtins" in REACHED
class C:
    def __new__(cls):
        return "{0.__se" + "lf__}"

    def format(self, x):
        pass


REACHED = C().format(print)
