# update_wrapper reads attributes by name and hands them to the setter of one's own class.
# reaches: builtins
from functools import update_wrapper
found = []


class Catch:
    def __setattr__(self, name, value):
        found.append(value)


update_wrapper(Catch(), print, assigned=("__se" + "lf__",), updated=())
REACHED = found[0]
