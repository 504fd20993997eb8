# An annotation without a value binds nothing.
# reaches: builtins.open
open: object
REACHED = open
