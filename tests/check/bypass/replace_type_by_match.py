# The same, captured by a pattern.
# reaches: builtins
# needs: 3.10
import dataclasses

u = "_" * 2
got = []


def grab(**values):
    got.append(values)
    return values

class C:
    pass


match type(C):
    case w:
        pass

F = w("F", (), {"_field" + "_type": None, "init": True, "name": u + "getattribute" + u})
M = w("M", (w,), {u + "dataclass_fields" + u: {"a": F()}, u + "class" + u: property(lambda self: grab)})
P = M("P", (), {})
dataclasses.replace(P)
REACHED = got[0][u + "getattribute" + u](print, u + "self" + u)
