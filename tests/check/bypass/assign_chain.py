# Through a chain of assignments, the last of several targets.
# reaches: builtins.exec
a = b = c = exec
d = c
REACHED = d
