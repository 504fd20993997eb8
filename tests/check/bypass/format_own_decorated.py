# A class with a format() of its own, which a decorator replaces.
# reaches: the text of an attribute
# proof: "builtins" in REACHED
@lambda cls: lambda: "{0.__se" + "lf__}"
class C:
    def format(self, x):
        pass


REACHED = C().format(print)
