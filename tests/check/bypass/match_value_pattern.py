# A value pattern whose comparison runs a method that sees the module.
# reaches: os.system
# needs: 3.10
import os


class See:
    got = None

    def __eq__(self, other):
        See.got = other.system
        return True

    __hash__ = None


class Names:
    probe = See()


match os:
    case Names.probe:
        REACHED = See.got
