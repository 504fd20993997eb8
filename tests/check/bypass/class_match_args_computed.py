# A pattern whose attributes are computed.
# reaches: builtins
# needs: 3.10
from collections.abc import Callable


class Reader(Callable):
    __match_args__ = ("__se" + "lf__",)


Reader.register(type(print))
match print:
    case Reader(module):
        REACHED = module
