# A forbidden builtin, registered for a type.
# reaches: the value of evaluated text
# proof: REACHED == 42
from functools import singledispatch


@singledispatch
def run(x):
    pass


run.register(str, eval)
REACHED = run("6 * 7")
