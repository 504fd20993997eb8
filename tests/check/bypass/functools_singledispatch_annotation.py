# singledispatch evaluates the annotation of what it registers.
# reaches: os.system
from functools import singledispatch
found = []


@singledispatch
def f(x):
    pass


@f.register
def _(x: "(found.append(__import__('os').system), int)[1]"):
    pass


REACHED = found[0]
