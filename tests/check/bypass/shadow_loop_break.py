# A loop that is left before the name is bound.
# reaches: builtins.open
while True:
    break
    open = print
REACHED = open
