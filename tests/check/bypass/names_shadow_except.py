# The name of an except clause is deleted at its end.
# reaches: builtins.eval
try:
    raise ValueError
except ValueError as eval:
    pass
REACHED = eval
