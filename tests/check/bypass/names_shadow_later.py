# A name of one's own that is bound after its use.
# reaches: builtins.eval
REACHED = eval
eval = len
