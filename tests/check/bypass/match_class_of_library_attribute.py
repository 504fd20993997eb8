# The class of a pattern was put into a class of the library.
# reaches: builtins
# needs: 3.10
import json

class Meta(type):
    def __instancecheck__(cls, x):
        return True

    def __getattr__(cls, name):
        return ("__se" + "lf__",)


class Evil(metaclass=Meta):
    pass


json.JSONDecoder.Evil = Evil
match print:
    case json.JSONDecoder.Evil(module):
        REACHED = module
