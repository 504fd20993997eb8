# A branch that only the constant __debug__ decides.
# reaches: builtins.eval
if __debug__:
    f = eval
REACHED = f
