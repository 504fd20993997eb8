# A class with a format() of its own, until that is deleted.
# reaches: the text of an attribute
# proof: "builtins" in REACHED
class C(str):
    def format(self, x):
        pass

    del format


REACHED = C("{0.__se" + "lf__}").format(print)
