# The module sys through typing.
# reaches: sys
import typing
REACHED = typing.sys
