# A global that a function would bind, if it were called.
# reaches: builtins.open
def never():
    global open
    open = print


REACHED = open
