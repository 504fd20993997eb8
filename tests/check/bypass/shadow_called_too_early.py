# A function that is called before the name is bound.
# reaches: builtins.open
def get():
    return open


REACHED = get()
open = print
