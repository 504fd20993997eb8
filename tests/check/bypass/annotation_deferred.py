# An annotation that is evaluated later, when it is asked for.
# reaches: builtins.eval
# needs: 3.14
def f(x: eval):
    pass


REACHED = f.__annotate__(1)["x"]
