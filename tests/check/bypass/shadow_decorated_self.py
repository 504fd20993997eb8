# A decorator that runs the function before its name is bound.
# reaches: builtins.open
def now(f):
    return f()


@now
def open():
    return open


REACHED = open
