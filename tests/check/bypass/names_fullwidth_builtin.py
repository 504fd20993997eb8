# A builtin in full-width letters, which the parser folds.
# reaches: builtins.eval
REACHED = ｅｖａｌ
