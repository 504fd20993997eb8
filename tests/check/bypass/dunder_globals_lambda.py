# The globals of a lambda.
# reaches: builtins.eval
REACHED = (lambda: 0).__globals__["__builtins__"].eval
