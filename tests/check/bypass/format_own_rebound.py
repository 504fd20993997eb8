# What was an object of one's own is a template now.
# reaches: the text of an attribute
# proof: "builtins" in REACHED
class C:
    def format(self, x):
        pass


t = C()
t = "".join(["{0.__se" + "lf__}"])
REACHED = t.format(print)
