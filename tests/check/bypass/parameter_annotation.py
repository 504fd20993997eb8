# A forbidden name evaluated as an annotation and read back from it.
# reaches: builtins.eval
from typing import get_type_hints


def f(x: eval):
    pass


REACHED = get_type_hints(f)["x"]
