# The same, through a parameter.
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


def put(cls):
    cls.Evil = Evil


put(json.JSONDecoder)
match print:
    case json.JSONDecoder.Evil(module):
        REACHED = module
