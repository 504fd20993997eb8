# A keyword pattern reads a private method, in a program that has one of this name.
# reaches: os.system
# needs: 3.10-3.12
from typing import List, get_args


class Mine:
    def _evaluate(self):
        pass


match get_args(List["__import__('os').system"])[0]:
    case object(_evaluate=run):
        REACHED = run({}, {}, frozenset())
