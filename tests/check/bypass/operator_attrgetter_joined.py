# Reading attributes by a name that is put together.
# reaches: the globals of a function
# proof: "__builtins__" in REACHED
import operator


def f():
    pass


REACHED = operator.attrgetter("__glo" + "bals__")(f)
