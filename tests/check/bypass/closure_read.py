# A closure that reads the module of the function around it.
# reaches: os.system
def outer():
    import os as hidden

    def inner():
        return hidden

    return inner


REACHED = outer()().system
