# The parser of a path that is only a parameter.
# reaches: os.system
# needs: 3.13
from pathlib import PurePath


def walk(p):
    return p.parser.os.system


REACHED = walk(PurePath())
