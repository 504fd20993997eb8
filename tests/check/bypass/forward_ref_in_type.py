# Text in a type is an object that evaluates it, by a private method that a class of one's own has too.
# reaches: os.system
# needs: 3.9-3.12
from typing import List, get_args


class Mine:
    def _evaluate(self):
        pass


reference = get_args(List["__import__('os').system"])[0]
REACHED = reference._evaluate({}, {}, frozenset())
