# The same, with what `in` hands over.
# reaches: builtins
import dataclasses

u = "_" * 2
got = []


def grab(**values):
    got.append(values)
    return values

class C:
    def __contains__(self, other):
        got.append(other)


type(C) in C()
w = got.pop()

F = w("F", (), {"_field" + "_type": None, "init": True, "name": u + "getattribute" + u})
M = w("M", (w,), {u + "dataclass_fields" + u: {"a": F()}, u + "class" + u: property(lambda self: grab)})
P = M("P", (), {})
dataclasses.replace(P)
REACHED = got[0][u + "getattribute" + u](print, u + "self" + u)
