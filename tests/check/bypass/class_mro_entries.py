# An object among the bases of a class.
# reaches: os.system
import os


class Give:
    def __mro_entries__(self, bases):
        found.append(os)
        return ()


found = []


class C(Give()):
    pass


REACHED = found[0].system
