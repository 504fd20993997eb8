# A builtin that reads what the host types.
# reaches: builtins.input
REACHED = [*map(lambda f: f, (input,))][0]
