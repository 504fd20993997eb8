# The code of a function, replaced in place.
# reaches: builtins.eval
def f():
    return print


f.__code__ = f.__code__.replace(co_names=("eval",))
REACHED = f()
