# A forbidden builtin as a key.
# reaches: builtins.open
REACHED = list({open: 1})[0]
