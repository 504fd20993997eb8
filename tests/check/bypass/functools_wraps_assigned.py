# wraps reads attributes by name.
# reaches: builtins.eval
from functools import wraps
found = []


class Catch:
    def __setattr__(self, name, value):
        found.append(value)


wraps(print, ["__self__"], ())(Catch())
REACHED = found[0].eval
