# A metaclass that puts a module into a class.
# reaches: os.system
import os


class Meta(type):
    def __new__(meta, name, bases, ns):
        ns["m"] = os
        return super().__new__(meta, name, bases, ns)


class C(metaclass=Meta):
    pass


REACHED = C.m.system
