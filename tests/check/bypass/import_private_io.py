# The module under open.
# reaches: builtins.open
import _io
REACHED = _io.open
