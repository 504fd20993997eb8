# An assignment expression that is not evaluated.
# reaches: builtins.eval
False and (eval := print)
REACHED = eval
