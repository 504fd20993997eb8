# A forbidden builtin as the other branch.
# reaches: builtins.eval
f = print if False else eval
REACHED = f
