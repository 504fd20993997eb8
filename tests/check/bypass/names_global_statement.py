# A global statement looks past the local of the function around it.
# reaches: builtins.open
def outer():
    open = None

    def inner():
        global open
        return open

    return inner() if open is None else None


REACHED = outer()
