# A named tuple with the field `obj` takes the module from an error.
# reaches: json
# needs: 3.10
import collections.abc
import json
P = collections.namedtuple("P", "obj")


class Q(P, collections.abc.Hashable):
    pass


try:
    json.nope
except AttributeError as error:
    Q.register(type(error))
    match error:
        case Q(module):
            REACHED = module
