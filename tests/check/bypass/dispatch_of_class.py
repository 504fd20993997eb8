# singledispatch decorates a class.
# reaches: builtins.eval
# proof: REACHED is builtins.eval
import functools
seen = []


def evil(x: "seen.append(eval)"):
    pass


@functools.singledispatch
class C:
    pass


try:
    C.register(evil)
except TypeError:
    pass
REACHED = seen[0]
