# An allowed module, reached as an attribute of another.
# reaches: functools
import typing
REACHED = typing.functools
