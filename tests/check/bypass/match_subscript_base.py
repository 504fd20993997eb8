# The base of a pattern's class is what __class_getitem__ gives.
# reaches: builtins
# needs: 3.10
class Meta(type):
    def __instancecheck__(cls, x):
        return True

    def __getattr__(cls, name):
        return ("__se" + "lf__",)


class Evil(metaclass=Meta):
    pass


class Gives:
    def __class_getitem__(cls, item):
        return Evil


class X(Gives[int]):
    pass


match print:
    case X(module):
        REACHED = module
