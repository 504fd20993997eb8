# The builtins of a function.
# reaches: builtins.eval
# needs: 3.10
REACHED = (lambda: 0).__builtins__["eval"]
