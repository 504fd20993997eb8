# A forbidden builtin inside a generic alias.
# reaches: builtins.eval
REACHED = list[eval].__args__[0]
