# Annotations that are all text, evaluated by typing.
# reaches: os.system
from __future__ import annotations

from typing import get_type_hints


def f(x: __import__("os").system):
    pass


REACHED = get_type_hints(f)["x"]
