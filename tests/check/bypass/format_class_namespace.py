# The namespace of a class gives another text than was put in.
# reaches: the text of an attribute
# proof: "builtins" in REACHED
class Names(dict):
    def __getitem__(self, name):
        if name == "T":
            return "{0.__se" + "lf__}"
        return super().__getitem__(name)


class Meta(type):
    def __prepare__(*args):
        return Names()


got = []


class C(metaclass=Meta):
    T = "{}"
    got.append(T.format(print))


REACHED = got[0]
