# The annotation is one of two.
# reaches: builtins.eval
# proof: REACHED is builtins.eval
import functools
seen = []


def make():
    return "seen.append(eval)"


T = make() or int


@functools.singledispatch
def d(x):
    pass


try:
    @d.register
    def other(x: T):
        pass
except TypeError:
    pass
REACHED = seen[0]
