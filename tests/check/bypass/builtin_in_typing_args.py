# A forbidden builtin inside a generic alias, read by typing.
# reaches: builtins.eval
from typing import get_args
REACHED = get_args(dict[str, eval])[1]
