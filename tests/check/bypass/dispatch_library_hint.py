# The annotation was put into a class of the library.
# reaches: builtins.eval
# proof: REACHED is builtins.eval
import functools
import json
seen = []
json.JSONDecoder.T = "seen.append(eval)"


@functools.singledispatch
def d(x):
    pass


try:
    @d.register
    def other(x: json.JSONDecoder.T):
        pass
except TypeError:
    pass
REACHED = seen[0]
