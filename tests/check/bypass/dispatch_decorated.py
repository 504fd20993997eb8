# register gets another function than the one that is written below it.
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
    @(lambda f: evil)
    def other(x: int):
        pass
except TypeError:
    pass
REACHED = seen[0]
