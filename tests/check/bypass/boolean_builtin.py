# A forbidden builtin behind or.
# reaches: builtins.getattr
REACHED = None or getattr
