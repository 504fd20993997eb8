# A name bound in the else branch of a loop.
# reaches: builtins.open
for _ in ():
    f = print
else:
    f = open
REACHED = f
