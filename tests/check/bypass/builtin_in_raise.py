# A forbidden builtin as the argument of an exception.
# reaches: builtins.eval
try:
    raise ValueError(eval)
except ValueError as e:
    REACHED = e.args[0]
