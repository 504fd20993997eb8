# A positional pattern reads a private method of a type that evaluates text.
# reaches: os.system
# needs: 3.10-3.12
from collections.abc import Hashable
from dataclasses import dataclass
from typing import List, get_args


@dataclass
class Reader(Hashable):
    _evaluate: object


reference = get_args(List["__import__('os').system"])[0]
Reader.register(type(reference))
match reference:
    case Reader(run):
        REACHED = run({}, {}, frozenset())
