# A method gets a text for its self.
# reaches: the text of an attribute
# proof: "builtins" in REACHED
class C:
    def format(self, x):
        pass

    def show(self, x):
        return self.format(x)


REACHED = C.show("{0.__se" + "lf__}", print)
