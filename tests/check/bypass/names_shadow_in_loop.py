# A name of one's own that a loop without turns would bind.
# reaches: builtins.open
for open in ():
    pass
REACHED = open
