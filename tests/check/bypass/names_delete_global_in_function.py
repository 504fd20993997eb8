# A function deletes the global name that shadowed the builtin.
# reaches: builtins.eval
eval = 1


def drop():
    global eval
    del eval


drop()
REACHED = eval
