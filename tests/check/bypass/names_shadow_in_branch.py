# A name of one's own that is bound in one branch only.
# reaches: builtins.eval
if not True:
    eval = len
REACHED = eval
