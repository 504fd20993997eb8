# update_wrapper, kept by partial.
# reaches: builtins
import functools
found = []


class Catch:
    def __setattr__(self, name, value):
        found.append(value)


functools.partial(functools.update_wrapper, assigned=("__self__",), updated=())(Catch(), print)
REACHED = found[0]
