# A forbidden builtin as the value of a function.
# reaches: builtins.eval
def get():
    return eval


REACHED = get()
