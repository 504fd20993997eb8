# A name of one's own that a failing try block never came to bind.
# reaches: builtins.open
try:
    1 / 0
    open = print
except ZeroDivisionError:
    pass
REACHED = open
