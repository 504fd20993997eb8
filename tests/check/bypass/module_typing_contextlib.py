# A module through a module: typing, contextlib, sys.
# reaches: sys
# needs: 3.9-3.12
import typing
REACHED = typing.contextlib.sys
