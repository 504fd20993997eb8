# The default of a parameter is read before the function's name is bound.
# reaches: builtins.open
def open(f=open):
    return f


REACHED = open()
