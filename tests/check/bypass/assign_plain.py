# A forbidden builtin under another name, by assignment.
# reaches: builtins.eval
f = eval
REACHED = f
