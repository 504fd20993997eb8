# A forbidden builtin in the metadata of a type.
# reaches: builtins.eval
from typing import Annotated, get_args
REACHED = get_args(Annotated[int, eval])[1]
