# Code objects, through a module of typing.
# reaches: types.CodeType
from typing import types as t
REACHED = t.CodeType
