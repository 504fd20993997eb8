# A metaclass that answers every attribute of a class with a module.
# reaches: os.system
import os


class Meta(type):
    def __getattr__(cls, name):
        return os


class C(metaclass=Meta):
    pass


REACHED = C.anything.system
