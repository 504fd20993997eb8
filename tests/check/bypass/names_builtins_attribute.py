# The module of builtins by its name in every namespace.
# reaches: builtins.eval
REACHED = __builtins__.eval
