# singledispatchmethod evaluates annotations too.
# reaches: os.system
from functools import singledispatchmethod
found = []


class C:
    @singledispatchmethod
    def f(self, x):
        pass

    @f.register
    def _(self, x: "(found.append(__import__('os').system), int)[1]"):
        pass


REACHED = found[0]
