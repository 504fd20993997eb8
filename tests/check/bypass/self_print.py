# A builtin function knows its module.
# reaches: builtins
REACHED = print.__self__
