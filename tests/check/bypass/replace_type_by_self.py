# The same, with a class passed as self.
# reaches: builtins
import dataclasses

u = "_" * 2
got = []


def grab(**values):
    got.append(values)
    return values

class C:
    def like(self, *parts):
        return type(self)(*parts)


def w(*parts):
    return C.like(C, *parts)


w_type = C.like(C, C)

F = w("F", (), {"_field" + "_type": None, "init": True, "name": u + "getattribute" + u})
M = w("M", (w_type,), {u + "dataclass_fields" + u: {"a": F()}, u + "class" + u: property(lambda self: grab)})
P = M("P", (), {})
dataclasses.replace(P)
REACHED = got[0][u + "getattribute" + u](print, u + "self" + u)
