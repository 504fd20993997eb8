# wraps copies annotations that are texts.
# reaches: builtins.eval
# proof: REACHED is builtins.eval
import functools
seen = []


def evil(x: "seen.append(eval)"):
    pass


@functools.singledispatch
def d(x):
    pass


try:
    @d.register
    @functools.wraps(evil)
    def other(x: int):
        pass
except TypeError:
    pass
REACHED = seen[0]
