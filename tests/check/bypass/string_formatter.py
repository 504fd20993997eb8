# A formatter reads attributes by the text of its template.
# reaches: the globals of a function
# proof: "__builtins__" in REACHED
import string


def f():
    pass


make = string.Formatter
REACHED = make().get_field("0.__globals__", (f,), {})[0]
