# A class pattern takes the method register.
# reaches: builtins.eval
# proof: REACHED is builtins.eval
# needs: 3.10
import functools
seen = []


def evil(x: "seen.append(eval)"):
    pass


@functools.singledispatch
def d(x):
    pass


try:
    match d:
        case object(register=r):
            r(evil)
except TypeError:
    pass
REACHED = seen[0]
