# The class of a pattern comes from a context manager.
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
    def __enter__(self):
        return Evil

    def __exit__(self, *args):
        pass


with Gives() as X:
    match print:
        case X(module):
            REACHED = module
