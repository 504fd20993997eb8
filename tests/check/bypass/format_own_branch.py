# A class with a format_map() of its own, in a branch that never runs.
# reaches: the text of an attribute
# proof: "builtins" in REACHED
class C(str):
    if len('') > 0:
        def format_map(self, x):
            pass


REACHED = C("{x.__self__}"[:3] + "__self__}").format_map({"x": print})
