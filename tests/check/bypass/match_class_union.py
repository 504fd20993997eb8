# The class of a pattern is one of two.
# reaches: builtins
# needs: 3.10
class Meta(type):
    def __instancecheck__(cls, x):
        return True

    def __getattr__(cls, name):
        return ("__se" + "lf__",)


class Evil(metaclass=Meta):
    pass


def make():
    return Evil


X = make() or int
match print:
    case X(module):
        REACHED = module
