# The fields of a named tuple are not the second argument that is written.
# reaches: a frame
# proof: isinstance(REACHED, types.FrameType)
# needs: 3.10
import collections.abc
P = collections.namedtuple(*[], "P", ["gi" + "_frame"])


class Q(P, collections.abc.Hashable):
    pass


def g():
    yield 1


it = g()
Q.register(type(it))
match it:
    case Q(frame):
        REACHED = frame
