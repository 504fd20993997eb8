# Annotations that are all text, evaluated by singledispatch.
# reaches: os.system
from __future__ import annotations

from functools import singledispatch

found = []
tool = [lambda: found]


@singledispatch
def f(x):
    pass


@f.register
def _(x: [found.append(__import__("os").system), int][1]):
    pass


REACHED = found[0]
