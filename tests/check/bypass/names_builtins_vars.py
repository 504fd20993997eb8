# The namespace of builtins, subscripted.
# reaches: builtins.eval
REACHED = __builtins__.__dict__["eval"]
