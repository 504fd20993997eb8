# The same of a path that is only a parameter.
# reaches: os.system
# needs: 3.9-3.11
from pathlib import Path


def walk(p):
    return p._flavour.pathmod.os.system


REACHED = walk(Path("x"))
