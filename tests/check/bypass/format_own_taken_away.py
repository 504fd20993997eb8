# A class with a format() of its own, until its base takes that away.
# reaches: the text of an attribute
# proof: "builtins" in REACHED
class Base:
    def __init_subclass__(cls):
        del cls.format


class C(Base, str):
    def format(self, x):
        pass


REACHED = C("{0.__se" + "lf__}").format(print)
