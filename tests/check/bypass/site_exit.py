# The object exit, whose class is not a builtin one.
# reaches: builtins.exit
REACHED = exit
