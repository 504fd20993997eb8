# What was an object of one's own is a dispatcher now.
# reaches: builtins.eval
# proof: REACHED is builtins.eval
import functools
seen = []


def evil(x: "seen.append(eval)"):
    pass


class Own:
    def register(self, f):
        pass


d = Own()
d = functools.singledispatch(lambda x: x)
try:
    d.register(evil)
except TypeError:
    pass
REACHED = seen[0]
