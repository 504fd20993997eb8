# The namespace of the program.
# reaches: builtins.eval
REACHED = globals()["__builtins__"].eval
