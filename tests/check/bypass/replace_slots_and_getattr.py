# A slot is an attribute of its class, by a name that is text; __getattr__ then says what is in it.
# reaches: posixpath
# proof: REACHED is named('posixpath') or type(REACHED).__name__ == '_PosixFlavour'
# needs: 3.9-3.11
import dataclasses
from pathlib import PosixPath
u = "_" * 2
got = []


class Field:
    init = True
    name = "_fla" + "vour"

    def __getattr__(self, name):
        return None


class P(PosixPath):
    __slots__ = (u + "dataclass_fields" + u,)

    def __getattr__(self, name):
        return {"a": Field()}

    def __new__(cls, *args, **values):
        got.append(values)
        return super().__new__(cls, *args)


dataclasses.replace(P("x"))
REACHED = got[1]["_fla" + "vour"]
