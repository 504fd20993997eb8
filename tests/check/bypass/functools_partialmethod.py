# A forbidden builtin as a method.
# reaches: the value of evaluated text
# proof: REACHED == 42
from functools import partialmethod


class Text(str):
    run = partialmethod(lambda self, f: f(str(self)), eval)


REACHED = Text("6 * 7").run()
