# open called by iter until it gives the sentinel.
# reaches: builtins.eval
it = iter(lambda: eval, None)
REACHED = next(it)
