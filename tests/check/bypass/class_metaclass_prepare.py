# A metaclass whose namespace answers every name in the body of the class.
# reaches: os.system
import os


class Names(dict):
    def __missing__(self, key):
        return os


class Meta(type):
    @classmethod
    def __prepare__(meta, name, bases):
        return Names(__name__="x")


class C(metaclass=Meta):
    tool = unknown.system


REACHED = C.tool
