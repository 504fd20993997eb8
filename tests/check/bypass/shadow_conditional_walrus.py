# An assignment expression in the branch that is not taken.
# reaches: builtins.eval
x = 1 if True else (eval := 2)
REACHED = eval
