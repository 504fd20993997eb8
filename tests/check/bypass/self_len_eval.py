# From len to eval, by the module of len.
# reaches: builtins.eval
REACHED = len.__self__.eval
