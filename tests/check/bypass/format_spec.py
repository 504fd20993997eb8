# Attribute access in the format of a field.
# reaches: the text of a forbidden attribute
# proof: REACHED == "x__main__"
class Show:
    def __format__(self, spec):
        return "x" + spec


def f():
    pass


REACHED = "{0:{1.__globals__[__name__]}}".format(Show(), f)
