# A generator that looks a name up after it was deleted.
# reaches: builtins.open
def names():
    yield 1
    yield open


open = print
g = names()
next(g)
del open
REACHED = next(g)
